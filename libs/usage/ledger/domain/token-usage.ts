/** Tokens that a model has used; none is negative. */
export interface TokenUsage {
  inputTokens: bigint;
  outputTokens: bigint;
  cacheReadTokens: bigint;
  cacheWriteTokens: bigint;
}
