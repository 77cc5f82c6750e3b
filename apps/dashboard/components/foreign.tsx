import { useState } from 'react';
import { cutText } from '../domain/format.js';
import { Button } from './parts.js';

const INITIAL_LENGTH = 8_000;
const MAX_LENGTH = 200_000;

/** Shows text of agents and users as plain text. A long text is cut. */
export function Foreign({ text, value }: { text?: string; value?: unknown }) {
  const [longest, setLongest] = useState(INITIAL_LENGTH);
  const whole = text ?? JSON.stringify(value, null, 2);
  const [visible, leftOut] = cutText(whole, longest);
  return (
    <>
      <pre className="foreign" tabIndex={0}>
        {visible}
      </pre>
      {leftOut > 0 && (
        <p className="muted">
          {leftOut.toLocaleString()} more characters are hidden.{' '}
          {longest < MAX_LENGTH && (
            <Button onClick={() => setLongest(MAX_LENGTH)}>Show more</Button>
          )}
        </p>
      )}
    </>
  );
}
