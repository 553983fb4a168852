# The app and its workers in one container. How to build and start it: docs/docker.md.
# The base is pinned by tag; pin its digest too where images must be reproducible to the byte.
ARG BASE=python:3.11-slim-bookworm

# ---- what is installed, with pip and whatever it needs ----
# hadolint ignore=DL3006
FROM ${BASE} AS packages
# Where torch alone is taken from: docs/dependencies.md. Empty: pip's usual place.
ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY requirements.txt ./
RUN python3 -m venv /opt/venv
# Torch has its own layer: it is most of the image and changes least.
RUN /opt/venv/bin/pip install --quiet ${TORCH_INDEX:+--index-url "${TORCH_INDEX}"} \
        "$(grep '^torch==' requirements.txt)"
RUN /opt/venv/bin/pip install --quiet -r requirements.txt \
    && /opt/venv/bin/pip uninstall --quiet --yes pip
# Tests, headers and test programs: a third of a gigabyte that nothing here opens.
WORKDIR /opt/venv/lib/python3.11/site-packages
RUN rm -rf torch/include torch/test \
    && find torch/bin -type f ! -name torch_shm_manager -delete \
    && find . -type d -name tests -prune -exec rm -rf {} +

# ---- the native engine, where a compiler can be had; without it the torch engine trains everything ----
# hadolint ignore=DL3006
FROM ${BASE} AS kernels
# hadolint ignore=DL3008
RUN apt-get update \
    && { apt-get install -y --no-install-recommends g++ || echo "no compiler: no native engine"; } \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY native native
COPY scripts/native.sh scripts/
RUN bash scripts/native.sh && mkdir -p native/build

# ---- what runs ----
# hadolint ignore=DL3006
FROM ${BASE}
# tini is process 1: it passes signals on and reaps workers that outlive their parent.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin sandbox \
    && install -d -o 10001 -g 10001 /data/runs
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY . ./
COPY --from=kernels /build/native/build native/build
RUN /opt/venv/bin/python -m compileall -q .

# The root file system may be read-only: only /tmp and the volume are written to.
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/tmp \
    XDG_CACHE_HOME=/tmp/cache \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OMP_NUM_THREADS=1 \
    SANDBOX_RUNS=/data/runs \
    SANDBOX_ALLOWED_HOSTS=localhost,127.0.0.1
VOLUME /data/runs
EXPOSE 8501
USER 10001:10001
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "/app/scripts/healthcheck.py"]
ENTRYPOINT ["tini", "--"]
# 0.0.0.0 is the container's inside. What reaches it is decided by how the port is published
# (docs/docker.md: to loopback), and it answers only to the hosts of SANDBOX_ALLOWED_HOSTS.
CMD ["python", "-m", "sandbox", "serve", "--host", "0.0.0.0", "--port", "8501"]
