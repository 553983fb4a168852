// What Python hands over: sizes, rows and optimizer, as sandbox/engine/native/structures.py mirrors them.
//
// A run is one row of `theta` and of each moment; all rows are `stride` numbers apart. Nothing in here owns
// memory, and no function looks at another run's row, so any number of threads may work on rows of their own.
#pragma once
#include <cstdint>

namespace sandbox {

// Of the visual model (docs/engine.md); the offsets say where each parameter begins in a row.
struct VisualModel {
    int32_t n_tokens, vocab, n_embeddings, d, d_ff;
    int32_t size;  // numbers of a row that are trained
    int32_t tokens, positions, query, value, up, up_bias, down, down_bias;
};

// What W_Q, W_K or W_V has beside it in the row: C, that follows it, or gamma and two singular vectors.
struct Correction {
    int32_t added, gamma, left, right;
};

// Of the encoder; an offset is -1 where the model has no such parameter.
struct EncoderLayer {
    int32_t query, key, value, out, up, up_bias, down, down_bias;
    int32_t norm_1, norm_1_bias, norm_2, norm_2_bias;  // before or after attention, and the feed-forward part
    int32_t query_gain, key_gain;  // of normalized queries and keys, where they are trained
    int32_t scale;                 // of the scores, where it moves from step to step
    Correction corrections[3];
};

enum Placement : int32_t { PRE_NORM, POST_NORM, NO_NORM };
enum Norm : int32_t { LAYER_NORM, RMS_NORM };
enum ReadOut : int32_t { MEAN_TOKEN, FIRST_TOKEN, LAST_TOKEN };
enum Output : int32_t { DIRECT, UNIT_ROWS, UNIT_ROWS_DIFFERENTIATED };
enum QueryKey : int32_t { AS_PROJECTED, UNIT_LENGTH, UNIT_RMS };

struct EncoderModel {
    int32_t n_tokens, vocab, n_classes, d, heads, layers, d_ff, pad_token;  // pad_token -1: none
    int32_t size;  // numbers of a row that are trained; those that a step carries on stand behind them
    int32_t tokens, positions, final_norm, final_bias, classify, classify_bias;
    int32_t placement, norm, causal, read_out, output, query_key;
    int32_t lifted_blocks, lifted_every;  // C by SVD: matrices of a projection, steps from one C to the next
    float scale, identity, norm_epsilon, output_epsilon, query_gain, key_gain, query_key_epsilon;
    const float* corrections[3];  // (d, d) added to each layer's W_Q, W_K, W_V; null: nothing
    const EncoderLayer* of_layer;
};

// Training or test rows of all runs: tokens (set, row, token) as bytes, targets (set, row).
struct Data {
    const uint8_t* tokens;
    const int32_t* targets;
    int64_t tokens_apart, targets_apart;  // from one run's set to the next; 0 where all share one
};

// The rows of the runs, and how each of `n_steps` updates is scaled (sandbox/engine/optimizer.py).
struct Rows {
    float *theta, *mean, *square;
    int64_t n_runs, stride;
};

struct Adam {
    const float *step_size, *epsilon, *shrink;  // one number per step
    float new_mean, keep_square, new_square;  // 1 - beta 1, beta 2, 1 - beta 2
    float penalty, clip_norm;  // L2 penalty, longest gradient
};

// A stretch of updates within one epoch: rows (run, step, batch) of each run's own training set.
struct Stretch {
    const int32_t* order;
    int64_t order_apart;  // from one run's order to the next
    int64_t n_steps, batch, first_step;
    const float* scales;  // of the scores after each update, where a schedule moves them; or null
    float* losses;  // (step, run), nats, before each update
    int64_t losses_apart;  // from one step's losses to the next
    float *gradient, *before;  // rows as of theta that get the last step's gradient and start; or null
};

}  // namespace sandbox
