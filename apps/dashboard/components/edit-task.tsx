import { useCommand } from '../api/read.js';
import { isClosed, type Task } from '../domain/status.js';
import { toTaskChange, toValuesOfTask } from '../domain/task-change.js';
import { FormDialog } from './form-dialog.js';
import { Field } from './parts.js';
import { AgentPicker } from './pickers.js';
import { ProjectFields } from './task-fields.js';

/** Changes the fields of a task. A finished task keeps all but its tags and metadata. */
export function EditTask({ task }: { task: Task }) {
  const { id } = task;
  const change = useCommand(
    async (api, form: FormData) =>
      api.patch('/api/v1/agent-tasks/{id}', {
        params: { path: { id } },
        body: toTaskChange(form, task),
      }),
    { done: 'Task changed', changes: [['task', id], ['tasks'], ['overview']] },
  );
  return (
    <FormDialog open="Edit task" title="Edit task" confirm="Save changes" onConfirm={change.mutate}>
      <Fields task={task} />
    </FormDialog>
  );
}

function Fields({ task }: { task: Task }) {
  const values = toValuesOfTask(task);
  const text = (name: string, maxLength?: number) => (
    <input className="input" name={name} maxLength={maxLength} defaultValue={values[name]} />
  );
  const number = (name: string, min: number, max: number, required = false) => (
    <input
      className="input"
      name={name}
      type="number"
      min={min}
      max={max}
      required={required}
      defaultValue={values[name]}
    />
  );
  const notes = (
    <>
      <Field label="Tags" hint="Separate with commas.">
        {text('tags')}
      </Field>
      <Field label="Metadata" hint="A JSON object. A [redacted] keeps its value.">
        <textarea className="input" name="metadata" rows={2} defaultValue={values['metadata']} />
      </Field>
    </>
  );
  if (isClosed(task)) return notes;
  return (
    <>
      <Field label="Title">
        <input
          className="input"
          name="title"
          required
          maxLength={255}
          defaultValue={values['title']}
        />
      </Field>
      <Field label="Description">
        <textarea
          className="input"
          name="description"
          rows={3}
          maxLength={20_000}
          defaultValue={values['description']}
        />
      </Field>
      <div className="pair">
        <Field label="Priority" hint="10 runs first.">
          {number('priority', 1, 10, true)}
        </Field>
        <Field label="Maximum retries">{number('maxRetries', 0, 100, true)}</Field>
        <Field label="Delay before the first retry (s)">
          {number('retryBackoffSeconds', 0, 86_400, true)}
        </Field>
      </div>
      <ProjectFields values={values} />
      {notes}
      <p className="muted">A run that is under way keeps its agent, secrets and timeout.</p>
      <div className="pair">
        <AgentPicker
          hint="Only this agent can take the task."
          defaultValue={values['agentId'] ?? ''}
        />
        <Field label="Required capabilities" hint="Separate with commas.">
          {text('requiredCapabilities')}
        </Field>
        <Field label="Timeout (s)" hint="0: no limit.">
          {number('timeoutSeconds', 0, 2_592_000)}
        </Field>
      </div>
      <Field label="Secrets" hint="One NAME=value a line. A [redacted] keeps its value.">
        <textarea
          className="input"
          name="secrets"
          rows={2}
          autoComplete="off"
          spellCheck={false}
          defaultValue={values['secrets']}
        />
      </Field>
      <div className="pair">
        <Field label="Complexity" hint="1 to 100. It estimates the tokens.">
          {number('estimatedComplexity', 1, 100)}
        </Field>
        <Field label="Estimated duration (min)">
          {number('estimatedDurationMinutes', 1, 525_600)}
        </Field>
        <Field label="Estimated tokens">
          <input
            className="input"
            name="estimatedTokens"
            inputMode="numeric"
            pattern="[0-9]+"
            defaultValue={values['estimatedTokens']}
          />
        </Field>
      </div>
    </>
  );
}
