import { getRouteApi, Link, useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { saveAttachments } from '../api/attachments.js';
import type { components } from '#lib/api-client';
import { describeError, useCommand, useRead } from '../api/read.js';
import { type TaskTemplate, useTemplates } from '../api/task-templates.js';
import { FormProblem, hasAllFields } from '../components/field-errors.js';
import { FormDialog } from '../components/form-dialog.js';
import { Button, Field, Loaded, Page } from '../components/parts.js';
import { Picker } from '../components/pickers.js';
import { TaskFields } from '../components/task-fields.js';
import { type Duplicate, toDuplicate } from '../domain/duplicate.js';
import { stripControls } from '../domain/format.js';
import {
  parsePrefill,
  type TaskPrefill,
  toPrefillOfTemplate,
  toTaskDraft,
  toTaskOfTemplate,
} from '../domain/task-draft.js';

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
  const { duplicates = '' } = route.useSearch();
  const original = useRead(
    ['task-to-duplicate', duplicates],
    (api, signal) =>
      api.get('/api/v1/agent-tasks/{id}', { params: { path: { id: duplicates } }, signal }),
    { enabled: duplicates !== '' },
  );
  if (duplicates === '') return <NewTask />;
  return <Loaded query={original}>{(task) => <NewTask {...toDuplicate(task)} />}</Loaded>;
}

function NewTask({ fields, hidden = [] }: Partial<Duplicate>) {
  const search = route.useSearch();
  const { template: templateId = '', duplicates } = search;
  const values = parsePrefill({ ...search });
  const { state } = useLocation();
  const navigate = useNavigate();
  const { data: templates, isFetchedAfterMount } = useTemplates();
  const template = templates?.find(({ id }) => id === templateId);
  const given = { ...fields, ...values, ...parsePrefill({ ...state.task }) };
  const prefill = template
    ? { title: template.name, ...toPrefillOfTemplate(template.task), ...given }
    : given;

  function choose(id: string): void {
    const chosen = {
      ...values,
      ...(duplicates !== undefined && { duplicates }),
      ...(id !== '' && { template: id }),
    };
    // The values of the navigation stay.
    void navigate({ to: '/tasks/new', search: chosen, state: true, replace: true });
  }

  return (
    <Page title="Create task" above={<Link to="/tasks">Tasks</Link>}>
      {hidden.length > 0 && (
        <p className="banner" role="status">
          Drover hides secrets. Enter these values again:{' '}
          <bdi>{stripControls(hidden.join(', '))}</bdi>
        </p>
      )}
      {(templateId !== '' || (templates ?? []).length > 0) && (
        <Picker
          label="Template"
          empty="None"
          items={templates}
          value={templateId}
          onChange={({ target }) => choose(target.value)}
        />
      )}
      {isFetchedAfterMount && templateId !== '' && !template && (
        <p className="problem" role="alert">
          The template no longer exists. Choose another one, or none.
        </p>
      )}
      {(templateId === '' || (isFetchedAfterMount && template)) && (
        <TaskForm
          key={`${templateId} ${JSON.stringify(given)}`}
          prefill={prefill}
          template={template}
        />
      )}
    </Page>
  );
}

interface TaskFormProps {
  prefill: Partial<components['schemas']['CreateTask']>;
  template: TaskTemplate | undefined;
}

function TaskForm({ prefill, template: chosen }: TaskFormProps) {
  // A later version would not fit the fields, which begin with this one.
  const [template] = useState(chosen);
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const [rest, setRest] = useState<string>();
  const create = useCommand(
    async (api, form: FormData) => {
      const draft = toTaskDraft(form);
      const files = form.getAll('files').filter((file) => file instanceof File);
      const attachments = await saveAttachments(api, files);
      const added = attachments && { inputContext: { ...draft.inputContext, attachments } };
      const task = { ...draft, ...added };
      if (template === undefined) return api.post('/api/v1/agent-tasks', { body: task });
      return api.post('/api/v1/task-templates/{id}/tasks', {
        params: { path: { id: template.id } },
        body: toTaskOfTemplate(task, template.task),
      });
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
    <>
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
      <SaveTemplate form={form} />
    </>
  );
}

/** Stores the fields of the form as a template. */
function SaveTemplate({ form }: { form: RefObject<HTMLFormElement | null> }) {
  const save = useCommand(
    async (api, dialog: FormData) => {
      const task = toTaskDraft(new FormData(form.current ?? undefined));
      const name = String(dialog.get('name')).trim();
      return api.post('/api/v1/task-templates', { body: { name, task } });
    },
    { done: 'Template saved', changes: [['task-templates']] },
  );
  return (
    <FormDialog
      open="Save as template"
      title="Save as template"
      confirm="Save template"
      onConfirm={save.mutate}
    >
      <Field label="Name" hint="Everybody in the workspace can choose it.">
        <input className="input" name="name" required maxLength={200} />
      </Field>
    </FormDialog>
  );
}
