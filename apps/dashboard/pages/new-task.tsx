import { getRouteApi, Link, useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { saveAttachments } from '../api/attachments.js';
import { describeError, useCommand } from '../api/read.js';
import { FormProblem, hasAllFields } from '../components/field-errors.js';
import { Button, Page } from '../components/parts.js';
import { TaskFields } from '../components/task-fields.js';
import { parsePrefill, type TaskPrefill, toTaskDraft } from '../domain/task-draft.js';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Values for the form of a new task that are too long for an address. */
    task?: TaskPrefill;
  }
}

const route = getRouteApi('/tasks/new');

/**
 * The form of a new task. Its fields begin with the values of the address, and of the state of the
 * navigation, which is right where both have one:
 * `<Link to="/tasks/new" search={{ title: 'Build' }} state={{ task: { inputContext } }}>`.
 */
export function NewTaskPage() {
  const search = route.useSearch();
  const { state } = useLocation();
  const prefill = { ...search, ...parsePrefill({ ...state.task }) };
  return (
    <Page title="Create task" above={<Link to="/tasks">Tasks</Link>}>
      <TaskForm key={JSON.stringify(prefill)} prefill={prefill} />
    </Page>
  );
}

function TaskForm({ prefill }: { prefill: TaskPrefill }) {
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const [rest, setRest] = useState<string>();
  const create = useCommand(
    async (api, form: FormData) => {
      const draft = toTaskDraft(form);
      const files = form.getAll('files').filter((file) => file instanceof File);
      const attachments = await saveAttachments(api, files);
      const added = attachments && { inputContext: { ...draft.inputContext, attachments } };
      return api.post('/api/v1/agent-tasks', { body: { ...draft, ...added } });
    },
    {
      done: 'Task created',
      changes: [['tasks'], ['tasks-head'], ['overview']],
      onDone: ({ id }) => void navigate({ to: '/tasks/$id', params: { id } }),
    },
  );

  // A wrong field must not stay hidden.
  const open = (element: Element) => element.closest('details')?.setAttribute('open', '');
  useEffect(() => {
    form.current?.querySelectorAll('.wrong').forEach(open);
  }, [create.error]);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    create.mutate(new FormData(event.currentTarget), {
      onError: (error) =>
        setRest(hasAllFields(error, form.current) ? undefined : describeError(error)),
    });
  }

  return (
    <form
      ref={form}
      className="form"
      onSubmit={submit}
      onInvalidCapture={({ target }) => open(target as Element)}
    >
      <FormProblem value={create.error}>
        <TaskFields prefill={prefill} />
      </FormProblem>
      {create.error && rest !== undefined && (
        <p className="problem" role="alert">
          {rest}
        </p>
      )}
      <div>
        <Button type="submit" look="primary" disabled={create.isPending}>
          {create.isPending ? 'Creating…' : 'Create task'}
        </Button>
      </div>
    </form>
  );
}
