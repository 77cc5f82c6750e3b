import { useState } from 'react';
import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { toQuery } from '../domain/task-filter.js';
import { Button, Field } from './parts.js';

const FOUND = 8;

interface Chosen {
  id: string;
  title: string | undefined;
}

/** Chooses the tasks that must complete first: by their title, or by the begin of their id. */
export function DependencyPicker({ ids }: { ids: string[] }) {
  const [chosen, setChosen] = useState<Chosen[]>(() => ids.map((id) => ({ id, title: undefined })));
  const [text, setText] = useState('');
  const found = useRead(
    ['tasks-found', text],
    (api, signal) => {
      const query = { ...toQuery({ text: text.trim() }), limit: FOUND };
      return api.get('/api/v1/agent-tasks', { params: { query }, signal });
    },
    { enabled: text.trim().length > 1 },
  );
  const others = found.data?.items.filter(({ id }) => chosen.every((task) => task.id !== id)) ?? [];
  return (
    <div className="stack">
      <input type="hidden" name="dependsOn" value={chosen.map(({ id }) => id).join(',')} />
      <Field label="Depends on" hint="Find tasks that must complete first, by title or ID.">
        <input
          type="search"
          className="input"
          value={text}
          maxLength={200}
          onChange={({ target }) => setText(target.value)}
          // Enter would create the task.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      </Field>
      {text.trim().length > 1 && (
        <ul aria-label="Found tasks" aria-live="polite">
          {others.map(({ id, title }) => (
            <li key={id}>
              <Button
                look="quiet"
                onClick={() => {
                  setChosen([...chosen, { id, title }]);
                  setText('');
                }}
              >
                Add <bdi className="clip">{stripControls(title)}</bdi>
              </Button>
            </li>
          ))}
          {found.data && others.length === 0 && <li className="muted">No other tasks match.</li>}
        </ul>
      )}
      {chosen.length > 0 && (
        <ul aria-label="Dependencies">
          {chosen.map((task) => (
            <li key={task.id} className="run-line">
              <Title {...task} />{' '}
              <Button
                look="quiet"
                onClick={() => setChosen(chosen.filter(({ id }) => id !== task.id))}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Title({ id, title }: Chosen) {
  const task = useRead(
    ['task-titles', id],
    (api, signal) => api.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal }),
    { enabled: title === undefined },
  );
  return <bdi>{stripControls(title ?? task.data?.title ?? id)}</bdi>;
}
