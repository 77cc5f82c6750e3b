import { useSyncExternalStore } from 'react';
import { Icon } from './icons.js';

interface Notice {
  id: number;
  text: string;
  tone: 'good' | 'bad';
}

/** How long a confirmation stays. An error stays until the user dismisses it. */
const CONFIRMATION_MS = 6_000;

let notices: Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

/** Shows a confirmation or an error to the user. */
export function notify(text: string, tone: Notice['tone'] = 'good'): void {
  const id = ++last;
  replaceNotices([
    ...notices.filter((notice) => notice.text !== text).slice(-3),
    { id, text, tone },
  ]);
  if (tone === 'good') setTimeout(() => dismiss(id), CONFIRMATION_MS);
}

function dismiss(id: number): void {
  replaceNotices(notices.filter((notice) => notice.id !== id));
}

function replaceNotices(next: Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Notices() {
  const visible = useSyncExternalStore(subscribe, () => notices);
  return (
    <div className="notices" role="status">
      {visible.map(({ id, text, tone }) => (
        <div key={id} className={`notice ${tone}`}>
          <span className="grow">{text}</span>
          <button
            type="button"
            className="button quiet"
            aria-label="Dismiss message"
            onClick={() => dismiss(id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
