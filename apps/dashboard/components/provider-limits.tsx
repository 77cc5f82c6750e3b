import { Link } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Empty, Loaded, Panel } from './parts.js';

type Limit = components['schemas']['ProviderLimit'];

const EVERY_MS = 10_000;
const KINDS: Record<Limit['kind'], string> = {
  rate_limited: 'refuses further requests',
  quota_exhausted: 'says that the quota is used up',
};

/** The providers that refuse requests of the workspace now. */
export function ProviderLimits() {
  const limits = useRead(
    ['provider-limits'],
    (api, signal) => api.get('/api/v1/provider-limits', { signal }),
    { every: EVERY_MS },
  );
  return (
    <Panel title="Provider limits">
      <Loaded query={limits}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No provider refuses requests" small>
              <p>If one does, its tasks wait here and continue automatically.</p>
            </Empty>
          ) : (
            <ul className="stack" aria-label="Provider limits">
              {items.map((limit) => (
                <OneLimit key={limit.id} limit={limit} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function OneLimit({ limit }: { limit: Limit }) {
  const { may } = useWorkspace();
  const { id, provider, model, kind, since, until, reportedBy } = limit;
  const remove = useCommand(
    (api) => api.delete('/api/v1/provider-limits/{id}', { params: { path: { id } } }),
    { done: 'Limit removed; its tasks resume', changes: [['provider-limits'], ['attention']] },
  );
  return (
    <li className="run-line">
      <span>
        <b>
          <bdi>{stripControls(provider)}</bdi>
        </b>{' '}
        {KINDS[kind]} for <bdi>{stripControls(model ?? 'all of its models')}</bdi>. It refused{' '}
        <Ago at={since} /> to{' '}
        <Link to="/agents/$id" params={{ id: reportedBy.agentId }} className="link">
          <bdi>{stripControls(reportedBy.agentName)}</bdi>
        </Link>
        , and is tried again <Ago at={until} />.
      </span>
      {may('ADMIN') && (
        <FormDialog
          open="Remove limit"
          title={`Remove the limit of ${stripControls(provider)}?`}
          confirm="Remove limit"
          onConfirm={(_, callbacks) => remove.mutate(undefined, callbacks)}
        >
          <p>The tasks that wait for it resume now.</p>
        </FormDialog>
      )}
    </li>
  );
}
