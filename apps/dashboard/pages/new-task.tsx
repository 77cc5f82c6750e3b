import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { saveAttachments } from '../api/attachments.js';
import { describeError, useCommand, fieldError } from '../api/read.js';
import { Button, Field, Page } from '../components/parts.js';
import { toTaskDraft } from '../domain/task-draft.js';
import { DroverProblem } from '#lib/api-client';

interface NewTask {
  draft: ReturnType<typeof toTaskDraft>;
  files: File[];
}

export function NewTaskPage() {
  const navigate = useNavigate();
  const [jsonError, setJsonError] = useState<string>();
  const create = useCommand(
    async (api, { draft, files }: NewTask) => {
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

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    setJsonError(undefined);
    try {
      const form = new FormData(event.currentTarget);
      const files = form.getAll('files').filter((file) => file instanceof File);
      create.mutate({ draft: toTaskDraft(form), files });
    } catch (error) {
      setJsonError((error as Error).message);
    }
  }

  const { error } = create;
  const hasFields = error instanceof DroverProblem && (error.problem.errors?.length ?? 0) > 0;
  return (
    <Page title="Create task" above={<Link to="/tasks">Tasks</Link>}>
      <form className="form" onSubmit={submit}>
        {error && !hasFields && <p className="problem">{describeError(error)}</p>}
        <Field label="Title" error={fieldError(error, 'title')}>
          <input className="input" name="title" required maxLength={255} autoFocus />
        </Field>
        <Field label="Description" error={fieldError(error, 'description')}>
          <textarea className="input" name="description" rows={3} maxLength={20_000} />
        </Field>
        <div className="pair">
          <Field
            label="Type"
            hint="Agents can restrict the types that they accept."
            error={fieldError(error, 'taskType')}
          >
            <input className="input" name="taskType" required maxLength={100} defaultValue="task" />
          </Field>
          <Field label="Priority" hint="10 runs first." error={fieldError(error, 'priority')}>
            <input
              className="input"
              name="priority"
              type="number"
              min={1}
              max={10}
              defaultValue={5}
            />
          </Field>
          <Field label="Maximum retries" error={fieldError(error, 'maxRetries')}>
            <input
              className="input"
              name="maxRetries"
              type="number"
              min={0}
              max={100}
              defaultValue={3}
            />
          </Field>
        </div>
        <Field
          label="Command"
          hint="One shell line for workers that run commands. It becomes inputContext.command."
          error={fieldError(error, 'inputContext')}
        >
          <input className="input mono" name="command" placeholder="echo hello" />
        </Field>
        <Field
          label="Additional input"
          hint="A JSON object that the agent receives as inputContext."
          error={jsonError}
        >
          <textarea className="input" name="input" rows={4} placeholder='{"branch": "main"}' />
        </Field>
        <Field label="Files" hint="A coding agent gets them as attachments.">
          <input className="input" name="files" type="file" multiple />
        </Field>
        <div className="pair">
          <Field
            label="Required capabilities"
            hint="Separate with commas."
            error={fieldError(error, 'requiredCapabilities')}
          >
            <input className="input" name="capabilities" />
          </Field>
          <Field label="Tags" hint="Separate with commas." error={fieldError(error, 'tags')}>
            <input className="input" name="tags" />
          </Field>
        </div>
        <Field
          label="Depends on"
          hint="IDs of tasks that must complete first. Separate with commas."
          error={fieldError(error, 'dependsOn')}
        >
          <input className="input mono" name="dependsOn" />
        </Field>
        <div>
          <Button type="submit" look="primary" disabled={create.isPending}>
            {create.isPending ? 'Creating…' : 'Create task'}
          </Button>
        </div>
      </form>
    </Page>
  );
}
