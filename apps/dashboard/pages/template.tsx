import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { describeError, useCommand, useRead } from '../api/read.js';
import type { TaskTemplate } from '../api/task-templates.js';
import { useWorkspace } from '../api/workspace.js';
import { FormProblem, hasAllFields } from '../components/field-errors.js';
import { FormDialog } from '../components/form-dialog.js';
import { Button, Field, Loaded, Page } from '../components/parts.js';
import { TaskFields } from '../components/task-fields.js';
import { stripControls } from '../domain/format.js';
import { toPrefillOfTemplate, toTemplateChange } from '../domain/task-draft.js';

const route = getRouteApi('/templates/$id');

export function TemplatePage() {
  const { id } = route.useParams();
  const template = useRead(['task-template', id], (api, signal) =>
    api.get('/api/v1/task-templates/{id}', { params: { path: { id } }, signal }),
  );
  return <Loaded query={template}>{(data) => <OneTemplate key={data.id} read={data} />}</Loaded>;
}

function OneTemplate({ read }: { read: TaskTemplate }) {
  const { may } = useWorkspace();
  // The page reads later versions while somebody edits this one.
  const [template, setTemplate] = useState(read);
  return (
    <Page
      isThing
      title={stripControls(template.name)}
      above={<Link to="/templates">Templates</Link>}
      actions={
        may('MEMBER') && (
          <>
            <Link to="/tasks/new" search={{ template: template.id }} className="button primary">
              Create task
            </Link>
            <DeleteTemplate id={template.id} />
          </>
        )
      }
    >
      <TemplateForm key={template.version} template={template} onChanged={setTemplate} />
    </Page>
  );
}

interface TemplateFormProps {
  template: TaskTemplate;
  onChanged: (template: TaskTemplate) => void;
}

function TemplateForm({ template, onChanged }: TemplateFormProps) {
  const { id, name, description, version, task } = template;
  const isReader = !useWorkspace().may('MEMBER');
  const form = useRef<HTMLFormElement>(null);
  const [rest, setRest] = useState<string>();
  const change = useCommand(
    async (api, values: FormData) =>
      api.patch('/api/v1/task-templates/{id}', {
        params: { path: { id }, header: { 'If-Match': `"${version}"` } },
        body: toTemplateChange(values, task),
      }),
    {
      done: 'Template changed',
      changes: [['task-templates'], ['task-template', id]],
      onDone: onChanged,
    },
  );

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    change.mutate(new FormData(event.currentTarget), {
      onError: (error) =>
        setRest(hasAllFields(error, form.current) ? undefined : describeError(error)),
    });
  }

  return (
    <form ref={form} onSubmit={submit}>
      <fieldset className="form" disabled={isReader}>
        <FormProblem value={change.error}>
          <Field label="Name">
            <input className="input" name="name" required maxLength={200} defaultValue={name} />
          </Field>
          <Field label="Purpose" hint="What the template is for.">
            <textarea
              className="input"
              name="purpose"
              rows={2}
              maxLength={2_000}
              defaultValue={description ?? ''}
            />
          </Field>
          <TaskFields prefill={toPrefillOfTemplate(task)} of="template" />
        </FormProblem>
        {rest !== undefined && (
          <p className="problem" role="alert">
            {rest}
          </p>
        )}
        {!isReader && (
          <div>
            <Button type="submit" look="primary" disabled={change.isPending}>
              {change.isPending ? 'Saving…' : 'Save changes'}
            </Button>
          </div>
        )}
      </fieldset>
    </form>
  );
}

function DeleteTemplate({ id }: { id: string }) {
  const navigate = useNavigate();
  const remove = useCommand(
    (api) => api.delete('/api/v1/task-templates/{id}', { params: { path: { id } } }),
    {
      done: 'Template deleted',
      changes: [['task-templates']],
      onDone: () => void navigate({ to: '/templates' }),
    },
  );
  return (
    <FormDialog
      open="Delete"
      look="danger"
      title="Delete template"
      confirm="Delete"
      onConfirm={(_, callbacks) => remove.mutate(undefined, callbacks)}
    >
      <p>Its tasks stay.</p>
    </FormDialog>
  );
}
