import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { FormDialog, ifMatch } from './form-dialog.js';
import { NamedFields, readNamed } from './named-fields.js';
import { Ago, Button, Empty, Field, Loaded, Panel } from './parts.js';

type Project = components['schemas']['Project'];
type Milestone = components['schemas']['Milestone'];

/** The milestones of a project. */
export function Milestones({ project: { id, archivedAt } }: { project: Project }) {
  const { may } = useWorkspace();
  const milestones = usePages(['milestones', id], (api, cursor, signal) => {
    const params = { path: { id }, query: { limit: 100, cursor } };
    return api.get('/api/v1/projects/{id}/milestones', { params, signal });
  });
  const mayChange = may('MEMBER') && archivedAt === null;
  return (
    <Panel title="Milestones" end={mayChange && <CreateMilestone projectId={id} />}>
      <Loaded query={milestones}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) return <Empty title="No milestones yet" small />;
          return (
            <ul className="stack" aria-label="Milestones">
              {items.map((milestone) => (
                <OneMilestone key={milestone.id} milestone={milestone} mayChange={mayChange} />
              ))}
            </ul>
          );
        }}
      </Loaded>
      {milestones.hasNextPage && (
        <Button onClick={() => void milestones.fetchNextPage()}>Show more milestones</Button>
      )}
    </Panel>
  );
}

interface OneMilestoneProps {
  milestone: Milestone;
  mayChange: boolean;
}

function OneMilestone({ milestone, mayChange }: OneMilestoneProps) {
  const { name, description, dueAt, archivedAt } = milestone;
  return (
    <li>
      <div className="run-line">
        <b>
          <bdi>{stripControls(name)}</bdi>
        </b>
        {dueAt !== null && (
          <span className="muted">
            due <Ago at={dueAt} />
          </span>
        )}
        {archivedAt !== null && <span className="muted">Archived</span>}
        {mayChange && archivedAt === null && <Actions milestone={milestone} />}
      </div>
      {description !== null && <bdi className="muted">{stripControls(description)}</bdi>}
    </li>
  );
}

function Actions({ milestone }: { milestone: Milestone }) {
  const { id, projectId, version, name } = milestone;
  const changes = [['milestones', projectId]];
  const change = useCommand(
    (api, form: FormData) =>
      api.patch('/api/v1/milestones/{id}', {
        params: { path: { id }, header: ifMatch(form) },
        body: readMilestone(form),
      }),
    { done: 'Milestone changed', changes },
  );
  const archive = useCommand(
    (api) => api.post('/api/v1/milestones/{id}/archive', { params: { path: { id } } }),
    { done: 'Milestone archived', changes },
  );
  return (
    <>
      <FormDialog
        open="Edit"
        look="quiet"
        title={`Edit milestone ${stripControls(name)}`}
        confirm="Save changes"
        version={version}
        onConfirm={change.mutate}
      >
        <Fields of={milestone} />
      </FormDialog>
      <FormDialog
        open="Archive"
        look="quiet"
        title={`Archive milestone ${stripControls(name)}`}
        confirm="Archive milestone"
        onConfirm={(_, callbacks) => archive.mutate(undefined, callbacks)}
      >
        <p>It accepts no more tasks. Its tasks stay.</p>
      </FormDialog>
    </>
  );
}

function CreateMilestone({ projectId }: { projectId: string }) {
  const create = useCommand(
    (api, form: FormData) => {
      const params = { path: { id: projectId } };
      return api.post('/api/v1/projects/{id}/milestones', { params, body: readMilestone(form) });
    },
    { done: 'Milestone created', changes: [['milestones', projectId]] },
  );
  return (
    <FormDialog
      open="Create milestone"
      title="Create milestone"
      confirm="Create milestone"
      onConfirm={create.mutate}
    >
      <Fields />
    </FormDialog>
  );
}

function Fields({ of }: { of?: Milestone }) {
  return (
    <>
      <NamedFields {...(of && { of })} />
      <Field label="Due date">
        <input
          className="input"
          type="date"
          name="dueAt"
          defaultValue={of?.dueAt ? toLocalDate(of.dueAt) : ''}
        />
      </Field>
    </>
  );
}

/** The Swedish form of a date is that of ISO 8601. */
const toLocalDate = (at: string) => new Date(at).toLocaleDateString('sv');

/** A milestone is due at the end of its day in the browser's time zone. */
function readMilestone(form: FormData) {
  const date = String(form.get('dueAt') ?? '');
  return {
    ...readNamed(form),
    dueAt: date === '' ? null : new Date(`${date}T23:59:59`).toISOString(),
  };
}
