import { useState } from 'react';
import { beginningOf } from '../domain/format.js';
import { Button } from './parts.js';

const FIRST = 8_000;
const MOST = 200_000;

/** What agents and users wrote, as text and nothing else; a long one is shown by its beginning. */
export function Foreign({ text, value }: { text?: string; value?: unknown }) {
  const [longest, setLongest] = useState(FIRST);
  const whole = text ?? JSON.stringify(value, null, 2);
  const [shown, leftOut] = beginningOf(whole, longest);
  return (
    <>
      <pre className="foreign" tabIndex={0}>
        {shown}
      </pre>
      {leftOut > 0 && (
        <p className="muted">
          {leftOut.toLocaleString()} more characters are not shown.{' '}
          {longest < MOST && <Button onClick={() => setLongest(MOST)}>Show more</Button>}
        </p>
      )}
    </>
  );
}
