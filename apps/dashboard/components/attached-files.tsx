import { useRead } from '../api/read.js';
import { formatBytes, stripControls } from '../domain/format.js';
import { Panel } from './parts.js';

/** A link is valid for five minutes. */
const EVERY_MS = 240_000;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function useAttachments(id: unknown) {
  const isId = typeof id === 'string' && UUID.test(id);
  const files = useRead(
    ['attachments', String(id)],
    (api, signal) => {
      const params = { path: { attachmentsId: String(id) } };
      return api.get('/api/v1/attachments/{attachmentsId}', { params, signal });
    },
    { every: EVERY_MS, enabled: isId },
  );
  return files.data?.items ?? [];
}

/** The files that a person attached to a task or to a message. Nothing for an unknown id. */
export function AttachedFiles({ id }: { id: unknown }) {
  const files = useAttachments(id);
  if (files.length === 0) return null;
  return (
    <ul className="stack" aria-label="Attached files">
      {files.map(({ name, sizeBytes, downloadPath }) => (
        <li key={name}>
          <a href={downloadPath} className="link" download>
            <bdi>{stripControls(name)}</bdi>
          </a>
          <span className="muted">, {formatBytes(sizeBytes)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The files that a person attached to a task. */
export function TaskAttachments({ id }: { id: unknown }) {
  const files = useAttachments(id);
  if (files.length === 0) return null;
  return (
    <Panel title="Attachments">
      <AttachedFiles id={id} />
    </Panel>
  );
}
