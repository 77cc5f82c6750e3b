/** The wait of a loop: at least `cooldownMs`, then until a wake-up, at most `waitMs` in total. */
export interface Pause {
  waitMs: number;
  cooldownMs: number;
}
