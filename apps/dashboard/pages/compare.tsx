import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { Badge } from '../components/badge.js';
import { FormDialog } from '../components/form-dialog.js';
import { Button, Loaded, Page, Panel } from '../components/parts.js';
import { formatCount, formatDollars, formatDuration, stripControls } from '../domain/format.js';

type Attempt = components['schemas']['Attempt'];

const ChangeDiff = lazy(() =>
  import('../components/change-diff.js').then((module) => ({ default: module.ChangeDiff })),
);

const route = getRouteApi('/reviews/$id/compare');
const EVERY_MS = 5_000;

/** The attempts at a change, side by side. */
export function ComparePage() {
  const { id } = route.useParams();
  const attempts = useRead(
    ['changes', 'attempts', id],
    (api, signal) => api.get('/api/v1/changes/{id}/attempts', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Loaded query={attempts}>{({ items }) => <Comparison key={id} attempts={items} />}</Loaded>
  );
}

interface Row {
  name: string;
  of: (attempt: Attempt) => ReactNode;
}

const ROWS: Row[] = [
  { name: 'State', of: ({ state }) => <Badge state={state} /> },
  { name: 'Agent', of: ({ agentKind }) => agentKind ?? '–' },
  { name: 'Model', of: ({ model }) => <bdi>{stripControls(model ?? '–')}</bdi> },
  { name: 'Acceptance', of: ({ proof }) => (proof ? <Badge state={proof.verdict} /> : '–') },
  {
    name: 'Time of acceptance',
    of: ({ proof }) => (proof?.durationMs == null ? '–' : formatDuration(proof.durationMs / 1000)),
  },
  { name: 'Files', of: ({ filesChanged }) => filesChanged ?? '–' },
  {
    name: 'Lines',
    of: ({ insertions, deletions }) =>
      insertions === null ? '–' : `+${insertions} −${deletions ?? 0}`,
  },
  { name: 'Revisions', of: ({ revision }) => revision },
  { name: 'Runs', of: ({ cost }) => cost.runs },
  { name: 'Tokens', of: ({ cost }) => formatCount(cost.tokens) },
  { name: 'Cost', of: ({ cost }) => formatDollars(cost.costUsd) },
  { name: 'Time at work', of: ({ cost }) => formatDuration(cost.workSeconds) },
];

function Comparison({ attempts }: { attempts: Attempt[] }) {
  const withDiff = attempts.filter(({ headCommit }) => headCommit !== null);
  const [chosen, setChosen] = useState<string[]>();
  const shown = chosen ?? withDiff.slice(0, 2).map(({ id }) => id);
  const toggle = (id: string) =>
    setChosen(shown.includes(id) ? shown.filter((one) => one !== id) : [...shown.slice(-1), id]);
  return (
    <Page
      title={`Compare ${attempts.length} attempts`}
      above={<Link to="/reviews">Reviews</Link>}
      beside={<bdi className="muted">{stripControls(attempts[0]?.title ?? '')}</bdi>}
    >
      <div className="stack">
        <div className="table-frame" tabIndex={0} role="group" aria-label="Attempts">
          <table className="compare">
            <caption className="visually-hidden">Attempts side by side</caption>
            <thead>
              <tr>
                <td />
                {attempts.map((attempt, index) => (
                  <th key={attempt.id} scope="col">
                    <Link to="/reviews/$id" params={{ id: attempt.id }} className="link">
                      Attempt {index + 1}
                    </Link>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {ROWS.map(({ name, of }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {attempts.map((attempt) => (
                    <td key={attempt.id}>{of(attempt)}</td>
                  ))}
                </tr>
              ))}
              <tr>
                <th scope="row">Diff</th>
                {attempts.map((attempt, index) => (
                  <td key={attempt.id}>
                    {attempt.headCommit !== null && (
                      <Button
                        aria-pressed={shown.includes(attempt.id)}
                        onClick={() => toggle(attempt.id)}
                      >
                        {shown.includes(attempt.id) ? 'Hide diff' : 'Show diff'}
                        <span className="visually-hidden"> of {nameOf(attempts, index)}</span>
                      </Button>
                    )}
                  </td>
                ))}
              </tr>
              <tr>
                <th scope="row">Decision</th>
                {attempts.map((attempt, index) => (
                  <td key={attempt.id}>
                    <Approve
                      attempt={attempt}
                      name={nameOf(attempts, index)}
                      isAlone={attempts.length === 1}
                    />
                  </td>
                ))}
              </tr>
            </tbody>
          </table>
        </div>
        <div className="columns">
          {attempts.map(
            (attempt, index) =>
              shown.includes(attempt.id) && (
                <DiffOf key={attempt.id} attempt={attempt} name={nameOf(attempts, index)} />
              ),
          )}
        </div>
      </div>
    </Page>
  );
}

/** Such as `attempt 1 (codex)`. */
function nameOf(attempts: readonly Attempt[], index: number): string {
  const kind = attempts[index]?.agentKind;
  return `attempt ${index + 1}${kind ? ` (${stripControls(kind)})` : ''}`;
}

function Approve({ attempt, name, isAlone }: { attempt: Attempt; name: string; isAlone: boolean }) {
  const { may } = useWorkspace();
  const { id, headCommit, state, target } = attempt;
  const approve = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/changes/{id}/approve', {
        params: { path: { id } },
        body: { headCommit: headCommit ?? '', body: String(form.get('body') ?? '') },
      }),
    { done: 'Attempt approved', changes: [['changes'], ['change', id]] },
  );
  if (state !== 'IN_REVIEW' || !may('MEMBER')) return null;
  return (
    <FormDialog
      open="Approve"
      look="primary"
      title={`Approve ${name}`}
      confirm="Approve"
      onConfirm={approve.mutate}
    >
      <p>
        It is rebased onto {target}, proven again if that changes it, and merged.
        {!isAlone && ' The other attempts are closed, and their branches are removed.'}
      </p>
    </FormDialog>
  );
}

function DiffOf({ attempt, name }: { attempt: Attempt; name: string }) {
  const { id, headCommit } = attempt;
  const diff = useRead(['change', id, 'diff', headCommit], async (api, signal) => {
    const text = await api.get('/api/v1/changes/{id}/diff', { params: { path: { id } }, signal });
    return String(text);
  });
  return (
    <Panel title={`Diff of ${name}`}>
      <Loaded query={diff}>
        {(text) => (
          <Suspense fallback={<div className="state">Loading…</div>}>
            <ChangeDiff
              diff={text}
              view="unified"
              comments={[]}
              onComment={undefined}
              name={name}
            />
          </Suspense>
        )}
      </Loaded>
    </Panel>
  );
}
