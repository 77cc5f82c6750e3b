import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useCommand, usePages, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { Badge } from '../components/badge.js';
import { Foreign } from '../components/foreign.js';
import { FormDialog, ifMatch } from '../components/form-dialog.js';
import { Ago, Button, Empty, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { RepositoryFields } from '../components/repository-fields.js';
import { stripControls } from '../domain/format.js';
import { readRepository } from '../domain/repository-draft.js';

type Repository = components['schemas']['Repository'];

const route = getRouteApi('/repositories/$id');
const EVERY_MS = 10_000;

export function RepositoryPage() {
  const { id } = route.useParams();
  const repository = useRead(['repository', id], (api, signal) =>
    api.get('/api/v1/repositories/{id}', { params: { path: { id } }, signal }),
  );
  return <Loaded query={repository}>{(data) => <OneRepository repository={data} />}</Loaded>;
}

function OneRepository({ repository }: { repository: Repository }) {
  const { may } = useWorkspace();
  const { id, name, setup, acceptance, committer, archivedAt } = repository;
  return (
    <Page
      isThing
      title={stripControls(name)}
      above={<Link to="/repositories">Repositories</Link>}
      actions={
        may('ADMIN') &&
        archivedAt === null && (
          <>
            <CheckButton id={id} />
            <EditRepository repository={repository} />
            <Archive id={id} />
          </>
        )
      }
    >
      <div className="split">
        <div className="stack">
          <Check id={id} />
          <Changes repositoryId={id} />
          {setup !== null && (
            <Panel title="Setup">
              <Foreign text={setup} />
            </Panel>
          )}
          {acceptance !== null && (
            <Panel title="Acceptance">
              <Foreign text={acceptance} />
            </Panel>
          )}
        </div>
        <Panel title="Settings">
          <Facts
            items={[
              ['URL', <bdi>{stripControls(repository.url)}</bdi>],
              ['Changes land on', <code>{repository.defaultBranch}</code>],
              ['Branches', <code>{repository.branchPattern}</code>],
              ['Review', repository.review],
              ['Reviewing agent', repository.reviewer?.kind],
              ['Merge', repository.mergeMethod],
              ['Revisions', `at most ${repository.maxRevisions}`],
              ['Protected paths', repository.protectedPaths.join(', ')],
              ['Committer', committer && <bdi>{describeCommitter(committer)}</bdi>],
              ['Folder', repository.path],
              ['Network', repository.network],
              ['Allowed hosts', repository.allowedHosts.join(', ')],
              ['Credentials', repository.credentials],
              ['Signing key', repository.hasSigningKey ? 'set' : null],
              ['Forge', repository.forge === 'none' ? null : repository.forge],
              ['Required checks', repository.requiredChecks.join(', ')],
              ['Secret variables', repository.secretNames.join(', ')],
              ['Archived', archivedAt && <Ago at={archivedAt} />],
              ['ID', <code>{id}</code>],
            ]}
          />
        </Panel>
      </div>
    </Page>
  );
}

function describeCommitter({ name, email }: NonNullable<Repository['committer']>): string {
  return stripControls(`${name} <${email}>`);
}

function EditRepository({ repository }: { repository: Repository }) {
  const { id, version } = repository;
  const change = useCommand(
    async (api, form: FormData) =>
      api.patch('/api/v1/repositories/{id}', {
        params: { path: { id }, header: ifMatch(form) },
        body: readRepository(form),
      }),
    { done: 'Repository changed', changes: [['repository', id], ['repositories']] },
  );
  return (
    <FormDialog
      open="Edit repository"
      title="Edit repository"
      confirm="Save changes"
      version={version}
      onConfirm={change.mutate}
    >
      <RepositoryFields of={repository} />
    </FormDialog>
  );
}

const MARKS = { ok: '✓', warning: '!', failed: '✗' } as const;
const CHECKING_MS = 2_000;

function CheckButton({ id }: { id: string }) {
  const params = { path: { id } };
  const check = useCommand((api) => api.post('/api/v1/repositories/{id}/check', { params }), {
    done: 'Check requested',
    changes: [['repository-check', id]],
  });
  return <Button onClick={() => check.mutate(undefined)}>Check repository</Button>;
}

/** The last check by a host. */
function Check({ id }: { id: string }) {
  const check = useRead(
    ['repository-check', id],
    (api, signal) =>
      api.get('/api/v1/repositories/{id}/check', { params: { path: { id } }, signal }),
    { every: CHECKING_MS },
  );
  return (
    <Loaded query={check}>
      {({ state, checkedAt, findings }) =>
        state !== null && (
          <Panel title="Check">
            {state === 'waiting' && <p>It waits for a host.</p>}
            {state === 'running' && <p>A host checks the repository now.</p>}
            {state === 'finished' && (
              <p className="muted">
                <Ago at={checkedAt} />
              </p>
            )}
            <ul className="stack">
              {findings.map(({ name, outcome, message, advice }) => (
                <li key={name}>
                  <span aria-label={outcome}>{MARKS[outcome]}</span> <b>{stripControls(name)}</b>{' '}
                  <bdi>{stripControls(message)}</bdi>
                  {advice !== undefined && <div className="muted">{stripControls(advice)}</div>}
                </li>
              ))}
            </ul>
          </Panel>
        )
      }
    </Loaded>
  );
}

function Changes({ repositoryId }: { repositoryId: string }) {
  const changes = usePages(
    ['changes', 'of', repositoryId],
    (api, cursor, signal) => {
      const query = { repositoryId, limit: 20, ...(cursor !== undefined && { cursor }) };
      return api.get('/api/v1/changes', { params: { query }, signal });
    },
    { every: EVERY_MS },
  );
  return (
    <Panel title="Changes">
      <Loaded query={changes}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) return <Empty title="No task has named it yet" small />;
          return (
            <ul className="stack">
              {items.map(({ id, title, state, createdAt }) => (
                <li key={id}>
                  <Badge state={state} />{' '}
                  <Link to="/reviews/$id" params={{ id }} className="link">
                    <bdi>{stripControls(title)}</bdi>
                  </Link>{' '}
                  <span className="muted">
                    <Ago at={createdAt} />
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      {changes.hasNextPage && (
        <Button onClick={() => void changes.fetchNextPage()}>Show more changes</Button>
      )}
    </Panel>
  );
}

function Archive({ id }: { id: string }) {
  const navigate = useNavigate();
  const params = { path: { id } };
  const archive = useCommand((api) => api.post('/api/v1/repositories/{id}/archive', { params }), {
    done: 'Repository archived',
    changes: [['repositories'], ['repository', id]],
    onDone: () => void navigate({ to: '/repositories' }),
  });
  return (
    <FormDialog
      open="Archive"
      look="danger"
      title="Archive this repository"
      confirm="Archive"
      onConfirm={(_, callbacks) => archive.mutate(undefined, callbacks)}
    >
      <p>It accepts no more tasks, and its name is free. Changes that are under way go on.</p>
    </FormDialog>
  );
}
