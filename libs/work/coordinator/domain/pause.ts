/** How long a loop waits: `cooldownMs` in any case, then until it is woken, `waitMs` at most in all. */
export interface Pause {
  waitMs: number;
  cooldownMs: number;
}
