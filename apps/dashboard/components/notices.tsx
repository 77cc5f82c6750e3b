import { useSyncExternalStore } from 'react';
import { Icon } from './icons.js';

interface Notice {
  id: number;
  text: string;
  tone: 'good' | 'bad';
}

/** How long news of what was done stay; what went wrong stays until it is closed. */
const SHOWN_MS = 6_000;

let notices: Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

/** Tells the user of something that has happened. */
export function notify(text: string, tone: Notice['tone'] = 'good'): void {
  const id = ++last;
  change([...notices.filter((notice) => notice.text !== text).slice(-3), { id, text, tone }]);
  if (tone === 'good') setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  change(notices.filter((notice) => notice.id !== id));
}

function change(next: Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div className="notices" role="status">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={`notice ${tone}`}>
          <span className="grow">{text}</span>
          <button
            type="button"
            className="button quiet"
            aria-label="Close this message"
            onClick={() => dismiss(id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
