import { getRouteApi, Link } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { BudgetLines } from '../components/budget-lines.js';
import { Foreign } from '../components/foreign.js';
import { FormDialog, ifMatch } from '../components/form-dialog.js';
import { Milestones } from '../components/milestones.js';
import { NamedFields, readNamed } from '../components/named-fields.js';
import { Ago, Empty, Facts, Field, Loaded, Page, Panel } from '../components/parts.js';
import { Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';
import { toRow } from '../domain/task-row.js';
import { TASK_COLUMNS } from './tasks.js';

type Project = components['schemas']['Project'];

const route = getRouteApi('/projects/$id');

export function ProjectPage() {
  const { id } = route.useParams();
  const project = useRead(['projects', 'one', id], (api, signal) =>
    api.get('/api/v1/projects/{id}', { params: { path: { id } }, signal }),
  );
  return <Loaded query={project}>{(data) => <OneProject key={id} project={data} />}</Loaded>;
}

function OneProject({ project }: { project: Project }) {
  const { may } = useWorkspace();
  const { id, name, description, instructions, archivedAt } = project;
  const isOpen = archivedAt === null;
  return (
    <Page
      isThing
      title={stripControls(name)}
      above={<Link to="/projects">Projects</Link>}
      beside={!isOpen && <span className="muted">Archived</span>}
      actions={
        may('MEMBER') &&
        isOpen && (
          <>
            <Link to="/tasks/new" search={{ projectId: id }} className="button primary">
              Create task
            </Link>
            <EditProject project={project} />
            <ArchiveProject id={id} />
          </>
        )
      }
    >
      <div className="split">
        <div className="stack">
          {description !== null && (
            <Panel title="Description">
              <Foreign text={description} />
            </Panel>
          )}
          <LatestTasks projectId={id} />
          <ProjectBudgets projectId={id} />
          <Milestones project={project} />
          {instructions !== null && (
            <Panel title="Instructions for coding agents">
              <Foreign text={instructions} />
            </Panel>
          )}
        </div>
        <Panel title="Settings">
          <Facts
            items={[
              [
                'Usage',
                <Link to="/usage" search={{ projectId: id }} className="link">
                  View usage
                </Link>,
              ],
              ['Network', project.network],
              ['Allowed hosts', project.allowedHosts.join(', ')],
              ['Allowed models', project.allowedModels.join(', ')],
              ['MCP servers', project.mcpServers.map((server) => server.name).join(', ')],
              ['Created', <Ago at={project.createdAt} />],
              ['Archived', archivedAt && <Ago at={archivedAt} />],
              ['ID', <code>{id}</code>],
            ]}
          />
        </Panel>
      </div>
    </Page>
  );
}

const LATEST = 10;

function LatestTasks({ projectId }: { projectId: string }) {
  const tasks = useRead(['tasks-head', 'project', projectId], async (api, signal) => {
    const params = { query: { projectId, limit: LATEST } };
    const { items } = await api.get('/api/v1/agent-tasks', { params, signal });
    return items.map(toRow);
  });
  const all = (
    <Link to="/tasks" search={{ projectId }} className="link">
      View tasks
    </Link>
  );
  return (
    <Panel title="Latest tasks" end={all} flush>
      <Loaded query={tasks}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No tasks yet" small />
          ) : (
            <Table
              label="Latest tasks"
              columns={TASK_COLUMNS}
              rows={rows}
              keyOf={(task) => task.id}
              least={820}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function ProjectBudgets({ projectId }: { projectId: string }) {
  const budgets = useRead(['budgets', 'project', projectId], (api, signal) => {
    const query = { scope: 'project' as const, scopeId: projectId, active: true, limit: 20 };
    return api.get('/api/v1/budgets', { params: { query }, signal });
  });
  const items = budgets.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Panel title="Budgets">
      <BudgetLines budgets={items} hasForecast />
    </Panel>
  );
}

/** The changed limits only: a member cannot send those that an admin set. */
function readPolicy(form: FormData, project: Project): components['schemas']['ChangeProject'] {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const network = text('network') as Project['network'];
  const lists = (['allowedHosts', 'allowedModels'] as const).flatMap((name) => {
    const items = text(name)
      .split(/[,\s]+/)
      .filter(Boolean);
    return items.join() === project[name].join() ? [] : [[name, items]];
  });
  return { ...(network !== project.network && { network }), ...Object.fromEntries(lists) };
}

function EditProject({ project }: { project: Project }) {
  const { may } = useWorkspace();
  const { id, version, network } = project;
  const change = useCommand(
    (api, form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? '').trim();
      return api.patch('/api/v1/projects/{id}', {
        params: { path: { id }, header: ifMatch(form) },
        body: {
          ...readNamed(form),
          instructions: text('instructions') || null,
          ...readPolicy(form, project),
        },
      });
    },
    { done: 'Project changed', changes: [['projects']] },
  );
  return (
    <FormDialog
      open="Edit project"
      title="Edit project"
      confirm="Save changes"
      version={version}
      onConfirm={change.mutate}
    >
      <NamedFields of={project} />
      <Field label="Instructions" hint="For coding agents, like an AGENTS.md.">
        <textarea
          className="input"
          name="instructions"
          rows={3}
          maxLength={20_000}
          defaultValue={project.instructions ?? ''}
        />
      </Field>
      <Field label="Network of sessions">
        <select className="input" name="network" defaultValue={network}>
          <option value="none">None</option>
          {(may('ADMIN') || network === 'allow') && <option value="allow">Allowed hosts</option>}
          {(may('ADMIN') || network === 'host') && <option value="host">All of the host</option>}
        </select>
      </Field>
      <Field label="Allowed hosts" hint="Separate with commas. *.example.com is all below it.">
        <input
          className="input"
          name="allowedHosts"
          defaultValue={project.allowedHosts.join(', ')}
        />
      </Field>
      <Field label="Allowed models" hint="Separate with commas. * stands for any characters.">
        <input
          className="input"
          name="allowedModels"
          defaultValue={project.allowedModels.join(', ')}
        />
      </Field>
    </FormDialog>
  );
}

function ArchiveProject({ id }: { id: string }) {
  const params = { path: { id } };
  const archive = useCommand((api) => api.post('/api/v1/projects/{id}/archive', { params }), {
    done: 'Project archived',
    changes: [['projects']],
  });
  return (
    <FormDialog
      open="Archive"
      look="danger"
      title="Archive project"
      confirm="Archive project"
      onConfirm={(_, callbacks) => archive.mutate(undefined, callbacks)}
    >
      <p>It accepts no more tasks. Its tasks stay.</p>
    </FormDialog>
  );
}
