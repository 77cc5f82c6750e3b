import { Link } from '@tanstack/react-router';
import { useTemplates, type TaskTemplate } from '../api/task-templates.js';
import { useWorkspace } from '../api/workspace.js';
import { Ago, Empty, Loaded, Page } from '../components/parts.js';
import { type Column, defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';

const ALL: Column<TaskTemplate>[] = [
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(140px, 2fr)',
    cell: ({ id, name }) => (
      <Link to="/templates/$id" params={{ id }} className="title-link">
        <bdi>{stripControls(name)}</bdi>
      </Link>
    ),
  },
  {
    id: 'description',
    head: 'Purpose',
    width: 'minmax(140px, 3fr)',
    cell: ({ description }) => <bdi>{stripControls(description ?? '')}</bdi>,
  },
  {
    id: 'type',
    head: 'Type',
    width: 'minmax(80px, 1fr)',
    cell: ({ task }) => (
      <bdi className="muted">{stripControls(String(task['taskType'] ?? ''))}</bdi>
    ),
  },
  {
    id: 'changed',
    head: 'Changed',
    width: '92px',
    cell: ({ updatedAt }) => <Ago at={updatedAt} />,
  },
];

const COLUMNS = defineColumns(ALL);
const COLUMNS_OF_MEMBERS = defineColumns<TaskTemplate>([
  ...ALL,
  {
    id: 'use',
    head: 'Use',
    width: '92px',
    cell: ({ id, name }) => (
      <Link
        to="/tasks/new"
        search={{ template: id }}
        className="link"
        aria-label={`Create task from ${name}`}
      >
        Create task
      </Link>
    ),
  },
]);

export function TemplatesPage() {
  const { may } = useWorkspace();
  const templates = useTemplates();
  return (
    <Page title="Templates">
      <Loaded query={templates}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No templates yet">
              <p>
                A template has the fields of a task. Fill in the form of a task, then save it as a
                template.
              </p>
              {may('MEMBER') && (
                <Link to="/tasks/new" className="link">
                  Open the form
                </Link>
              )}
            </Empty>
          ) : (
            <Table
              label="Templates"
              columns={may('MEMBER') ? COLUMNS_OF_MEMBERS : COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              least={640}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
