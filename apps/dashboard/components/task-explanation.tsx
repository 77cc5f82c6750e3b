import { type components, WHY_NO_ESTIMATE } from '#lib/api-client';
import { useRead } from '../api/read.js';
import type { Task } from '../domain/status.js';
import { Message } from './message.js';
import { Ago, Facts, Loaded, Panel } from './parts.js';

type Estimate = components['schemas']['Estimate'];

const EVERY_MS = 10_000;

/** Explains the status of the task and estimates its start and end. */
export function TaskExplanation({ task }: { task: Task }) {
  const { id } = task;
  const explanation = useRead(
    ['task', id, 'explain'],
    (api, signal) =>
      api.get('/api/v1/agent-tasks/{id}/explain', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Panel title="Status explanation">
      <Loaded query={explanation}>
        {({ reasons, estimate }) => (
          <div className="stack">
            <ul className="stack">
              {reasons.map(({ code, message, params }, index) => (
                <li key={`${code} ${index}`} dir="auto">
                  <Message text={message} params={params} />
                </li>
              ))}
            </ul>
            <EstimateFacts task={task} estimate={estimate} />
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function EstimateFacts({ task, estimate }: { task: Task; estimate: Estimate }) {
  const { start, end, unknownBecause, basis } = estimate;
  if (unknownBecause === 'ended') return null;
  if (end === null && (start === null || task.startedAt !== null))
    return (
      <p className="muted">
        No estimate. {unknownBecause !== null && WHY_NO_ESTIMATE[unknownBecause]}
      </p>
    );
  return (
    <div>
      <Facts
        items={[
          ['Starts', start && task.startedAt === null && <Between range={start} />],
          ['Ends', end && <Between range={end} />],
        ]}
      />
      <p className="muted">
        Half of similar tasks reach this by the first time, 90% by the second.
      </p>
      <p className="muted">Based on {basis.completedTasks} completed tasks of this type.</p>
    </div>
  );
}

function Between({ range }: { range: { p50: string; p90: string } }) {
  return (
    <>
      <Ago at={range.p50} /> – <Ago at={range.p90} />
    </>
  );
}
