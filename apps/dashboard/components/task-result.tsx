import { Foreign } from './foreign.js';
import { Markdown } from './markdown.js';

/** A result of a run: its texts as Markdown, everything else as JSON. */
export function TaskResult({ value }: { value: Record<string, unknown> }) {
  const texts = Object.entries(value).filter(([, part]) => typeof part === 'string');
  const others = Object.fromEntries(
    Object.entries(value).filter(([, part]) => typeof part !== 'string'),
  );
  if (texts.length === 0) return <Foreign value={value} />;
  return (
    <div className="stack">
      {texts.map(([name, text]) => (
        <div key={name}>
          <p className="muted">
            <bdi>{name}</bdi>
          </p>
          <Markdown text={String(text)} />
        </div>
      ))}
      {Object.keys(others).length > 0 && <Foreign value={others} />}
      <details>
        <summary>JSON</summary>
        <Foreign value={value} />
      </details>
    </div>
  );
}
