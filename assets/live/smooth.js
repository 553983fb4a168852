// Smoothing: a mean over neighbours that invents nothing. Constants stay, gaps stay gaps, nothing reaches across one.

export const REACHES = [0, 2, 8];  // points to either side: off, light, strong

// As sandbox/mathematics/smoothing.py: the mean of the first `n` values, each with its finite neighbours.
export function mean(values, n, reach) {
  const found = Float64Array.from(values.subarray(0, n));
  for (let start = 0; start < n; start++) {
    if (!Number.isFinite(values[start])) continue;
    let stop = start;
    while (stop < n && Number.isFinite(values[stop])) stop++;
    // Less the first value: sums of numbers near zero keep constants constant to the last bit.
    const sums = new Float64Array(stop - start + 1), base = values[start];
    for (let i = start; i < stop; i++) sums[i - start + 1] = sums[i - start] + (values[i] - base);
    for (let i = start; i < stop; i++) {
      const low = Math.max(i - reach, start), high = Math.min(i + reach + 1, stop);
      found[i] = base + (sums[high - start] - sums[low - start]) / (high - low);
    }
    start = stop;
  }
  return found;
}
