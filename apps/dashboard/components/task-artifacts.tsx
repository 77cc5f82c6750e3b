import { TRANSCRIPT_FOLDER } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { formatBytes, stripControls } from '../domain/format.js';
import type { Task } from '../domain/status.js';
import { Ago, Panel } from './parts.js';

/** A link is valid for five minutes. */
const EVERY_MS = 60_000;
const LIMIT = 100;

/** The files that runs of the task kept, newest first. */
export function TaskArtifacts({ task: { id } }: { task: Task }) {
  const artifacts = useRead(
    ['task', id, 'artifacts'],
    (api, signal) => {
      const params = { path: { id }, query: { limit: LIMIT } };
      return api.get('/api/v1/agent-tasks/{id}/artifacts', { params, signal });
    },
    { every: EVERY_MS },
  );
  const { items: all = [], nextCursor = null } = artifacts.data ?? {};
  const items = all.filter(({ name }) => !name.startsWith(TRANSCRIPT_FOLDER));
  if (items.length === 0) return null;
  return (
    <Panel title="Artifacts">
      <ul className="stack">
        {items.map(({ id: artifact, name, sizeBytes, downloadPath, createdAt }) => (
          <li key={artifact} className="run-line">
            <a href={downloadPath} className="link" download>
              <bdi>{stripControls(name)}</bdi>
            </a>
            <span className="muted">
              , {formatBytes(sizeBytes)}, <Ago at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {nextCursor !== null && <p className="muted">Only the latest {LIMIT} artifacts are shown.</p>}
    </Panel>
  );
}
