/** How long a loop rests: `deafMs` in any case, then until somebody rings, `waitMs` at most in all. */
export interface Pause {
  waitMs: number;
  deafMs: number;
}
