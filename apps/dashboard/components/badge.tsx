import { LOOKS, type Shape } from '../domain/status.js';

const SHAPES: Record<Shape, string> = {
  ring: 'M5 1.5a3.5 3.5 0 1 0 .01 0',
  half: 'M5 1.5a3.5 3.5 0 1 0 .01 0M5 1.5v7',
  full: 'M5 1.5a3.5 3.5 0 1 0 .01 0z',
  bars: 'M3.2 2v6M6.8 2v6',
  cross: 'M2 2l6 6M8 2l-6 6',
  check: 'M1.5 5.2l2.4 2.4 4.6-5',
  dash: 'M1.5 5h7',
};

/** Shows a status by colour, shape and word. `word` replaces the word of the status. */
export function Badge({ state, word }: { state: string; word?: string | undefined }) {
  const { tone, shape } = LOOKS[state] ?? { tone: 'gray', shape: 'ring' };
  return (
    <span className={`badge tone-${tone}`}>
      <svg
        viewBox="0 0 10 10"
        fill={shape === 'full' ? 'currentColor' : 'none'}
        stroke="currentColor"
        strokeWidth="1.6"
        strokeLinecap="round"
        aria-hidden="true"
      >
        <path d={SHAPES[shape]} />
      </svg>
      {word ?? toLabel(state)}
    </span>
  );
}

/** Formats a constant for users: `IN_REVIEW` becomes `In review`. */
export function toLabel(state: string): string {
  const words = state.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
