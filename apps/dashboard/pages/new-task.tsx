import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { sentenceOf, useCommand, wrongField } from '../api/read.js';
import { Button, Field, Page } from '../components/parts.js';
import { draftOf } from '../domain/task-draft.js';
import { DroverProblem } from '#lib/api-client';

export function NewTaskPage() {
  const navigate = useNavigate();
  const [wrongJson, setWrongJson] = useState<string>();
  const create = useCommand(
    (api, body: ReturnType<typeof draftOf>) => api.post('/api/v1/agent-tasks', { body }),
    {
      done: 'The task is made.',
      changes: [['tasks'], ['tasks-head'], ['overview']],
      onDone: ({ id }) => void navigate({ to: '/tasks/$id', params: { id } }),
    },
  );

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    setWrongJson(undefined);
    try {
      create.mutate(draftOf(new FormData(event.currentTarget)));
    } catch (error) {
      setWrongJson((error as Error).message);
    }
  }

  const { error } = create;
  const hasFields = error instanceof DroverProblem && (error.problem.errors?.length ?? 0) > 0;
  return (
    <Page title="New task" above={<Link to="/tasks">Tasks</Link>}>
      <form className="form" onSubmit={submit}>
        {error && !hasFields && <p className="problem">{sentenceOf(error)}</p>}
        <Field label="Title" wrong={wrongField(error, 'title')}>
          <input className="input" name="title" required maxLength={255} autoFocus />
        </Field>
        <Field label="Description" wrong={wrongField(error, 'description')}>
          <textarea className="input" name="description" rows={3} maxLength={20_000} />
        </Field>
        <div className="pair">
          <Field
            label="Type"
            hint="Agents may take some types only."
            wrong={wrongField(error, 'taskType')}
          >
            <input className="input" name="taskType" required maxLength={100} defaultValue="task" />
          </Field>
          <Field label="Priority" hint="10 goes first." wrong={wrongField(error, 'priority')}>
            <input
              className="input"
              name="priority"
              type="number"
              min={1}
              max={10}
              defaultValue={5}
            />
          </Field>
          <Field label="Retries" wrong={wrongField(error, 'maxRetries')}>
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
          hint="For workers that execute commands: one line, as in a shell. It becomes inputContext.command."
          wrong={wrongField(error, 'inputContext')}
        >
          <input className="input mono" name="command" placeholder="echo hello" />
        </Field>
        <Field
          label="Other input"
          hint="A JSON object that the agent is given as inputContext."
          wrong={wrongJson}
        >
          <textarea className="input" name="input" rows={4} placeholder='{"branch": "main"}' />
        </Field>
        <div className="pair">
          <Field
            label="Needs"
            hint="Capabilities, with commas."
            wrong={wrongField(error, 'requiredCapabilities')}
          >
            <input className="input" name="capabilities" />
          </Field>
          <Field label="Tags" hint="With commas." wrong={wrongField(error, 'tags')}>
            <input className="input" name="tags" />
          </Field>
        </div>
        <Field
          label="Waits for"
          hint="Ids of tasks that must complete before, with commas."
          wrong={wrongField(error, 'dependsOn')}
        >
          <input className="input mono" name="dependsOn" />
        </Field>
        <div>
          <Button type="submit" look="primary" disabled={create.isPending}>
            {create.isPending ? 'Making …' : 'Make task'}
          </Button>
        </div>
      </form>
    </Page>
  );
}
