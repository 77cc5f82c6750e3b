import { type ComponentProps, useState } from 'react';
import type { components } from '#lib/api-client';
import { toFormValues } from '../domain/task-draft.js';
import { DependencyPicker } from './dependency-picker.js';
import { Field } from './parts.js';
import {
  AgentPicker,
  MilestonePicker,
  ModelField,
  ProjectPicker,
  RepositoryPicker,
} from './pickers.js';

type NewTask = components['schemas']['CreateTask'];

/** The kinds of coding agents that every host knows. Others are accepted. */
const KINDS = ['claude-code', 'codex', 'gemini-cli', 'opencode', 'qwen-code', 'acp'];

interface TaskFieldsProps {
  prefill: Partial<NewTask>;
  /**
   * The fields are those of a template or of the task of each due time: they need no title and have
   * no files. The latter have no times and dependencies of their own either.
   */
  of?: 'template' | 'schedule';
}

/**
 * The fields of a new task. Their names are those of `POST /agent-tasks`, so that the server's
 * errors find their fields. `prefill` has the first values; a later one needs another `key`.
 */
export function TaskFields({ prefill, of }: TaskFieldsProps) {
  const isScheduled = of === 'schedule';
  const defaults = of === 'template' ? {} : { taskType: 'task', priority: 5, maxRetries: 3 };
  const values = toFormValues({ ...defaults, ...prefill });
  const has = (...names: string[]) => names.some((name) => (values[name] ?? '') !== '');
  const input = (name: string, rest: ComponentProps<'input'> = {}) => (
    <input className="input" name={name} defaultValue={values[name]} {...rest} />
  );
  const area = (name: string, rest: ComponentProps<'textarea'> = {}) => (
    <textarea className="input" name={name} rows={3} defaultValue={values[name]} {...rest} />
  );
  const number = (name: string, min: number, max: number) =>
    input(name, { type: 'number', min, max });
  return (
    <>
      <Field label="Title" {...(of && { hint: `Empty: the name of the ${of}.` })}>
        {input('title', { required: !of, maxLength: 255, autoFocus: !of })}
      </Field>
      <Field label="Description">{area('description', { maxLength: 20_000 })}</Field>
      <div className="pair">
        <Field label="Type" hint="Agents can restrict the types that they accept.">
          {input('taskType', { required: true, maxLength: 100 })}
        </Field>
        <Field label="Priority" hint="10 runs first.">
          {number('priority', 1, 10)}
        </Field>
        <Field label="Maximum retries">{number('maxRetries', 0, 100)}</Field>
        <Field label="Timeout (s)" hint="0: no limit. Empty: the limit of the server.">
          {number('timeoutSeconds', 0, 2_592_000)}
        </Field>
      </div>
      <ProjectFields values={values} />
      <Field
        label="Command"
        hint="One shell line for workers that run commands. It becomes inputContext.command."
      >
        {input('command', { className: 'input mono', placeholder: 'echo hello' })}
      </Field>
      <Field label="Additional input" hint="A JSON object that the agent receives as inputContext.">
        {area('inputContext', { placeholder: '{"branch": "main"}' })}
      </Field>
      {!of && (
        <Field label="Files" hint="A coding agent gets them as attachments.">
          <input className="input" name="files" type="file" multiple />
        </Field>
      )}
      <Field
        label="Secrets"
        hint="Variables of the run, one NAME=value a line. They are encrypted and never shown."
      >
        {area('secrets', { rows: 2, autoComplete: 'off', spellCheck: false })}
      </Field>
      <div className="pair">
        <AgentPicker
          hint="Only this agent can take the task."
          defaultValue={values['agentId'] ?? ''}
        />
        <Field label="Required capabilities" hint="Separate with commas.">
          {input('requiredCapabilities')}
        </Field>
        <Field label="Tags" hint="Separate with commas.">
          {input('tags')}
        </Field>
      </div>
      {!isScheduled && (
        <DependencyPicker ids={(values['dependsOn'] ?? '').split(', ').filter(Boolean)} />
      )}
      <details className="more" open={has('agent.kind', 'repositoryId', 'instructions', 'steps')}>
        <summary>Coding agent</summary>
        <div className="form">
          <div className="pair">
            <Field label="Kind">
              {input('agent.kind', { list: 'kinds-of-agents', maxLength: 50 })}
            </Field>
            <Field label="Model" hint="By default, routing chooses it.">
              <ModelField name="agent.model" defaultValue={values['agent.model']} />
            </Field>
            <Field label="Permissions">
              <select
                className="input"
                name="agent.permissionMode"
                defaultValue={values['agent.permissionMode']}
              >
                <option value="">Default</option>
                <option value="auto">Use all tools</option>
                <option value="ask">Ask before each tool</option>
                <option value="plan">Write a plan first</option>
                <option value="read-only">Read only</option>
              </select>
            </Field>
          </div>
          <datalist id="kinds-of-agents">
            {KINDS.map((kind) => (
              <option key={kind} value={kind} />
            ))}
          </datalist>
          <RepositoryPicker
            hint="The agent changes it on a branch of its own."
            defaultValue={values['repositoryId'] ?? ''}
          />
          <Field label="Instructions">{area('instructions', { maxLength: 100_000 })}</Field>
          <Field label="Steps" hint="One a line.">
            {area('steps')}
          </Field>
          <Field label="Deliverables" hint="One a line.">
            {area('deliverables')}
          </Field>
          <Field label="Acceptance" hint="Conditions of the result, one a line.">
            {area('acceptance')}
          </Field>
          <Field label="Acceptance script" hint="It proves a result without a repository.">
            {area('acceptanceScript', { maxLength: 20_000 })}
          </Field>
          <Field label="Settings" hint="A JSON object for the kind of agent.">
            {area('agent.settings', { rows: 2 })}
          </Field>
        </div>
      </details>
      <details
        className="more"
        open={has('startAt', 'expiresAt', 'concurrencyKey', 'debounceKey', 'metadata')}
      >
        <summary>Start and limits</summary>
        <div className="form">
          <div className="pair">
            {!isScheduled && (
              <>
                <Field label="Start at">
                  {input('startAt', { type: 'datetime-local', step: 1 })}
                </Field>
                <Field label="Expires at" hint="If it still waits then, it is aborted.">
                  {input('expiresAt', { type: 'datetime-local', step: 1 })}
                </Field>
              </>
            )}
            <Field label="Delay before the first retry (s)">
              {number('retryBackoffSeconds', 0, 86_400)}
            </Field>
          </div>
          <div className="pair">
            <Field label="Concurrency key">{input('concurrencyKey', { maxLength: 200 })}</Field>
            <Field label="Tasks of the key at once">{number('concurrencyLimit', 1, 1_000)}</Field>
            <Field
              label="Debounce key"
              hint="While a task of the key waits for its start, a new one only moves that start."
            >
              {input('debounceKey', { maxLength: 200 })}
            </Field>
          </div>
          <div className="pair">
            <Field label="Complexity" hint="1 to 100. It estimates the tokens.">
              {number('estimatedComplexity', 1, 100)}
            </Field>
            <Field label="Estimated duration (min)">
              {number('estimatedDurationMinutes', 1, 525_600)}
            </Field>
            <Field label="Estimated tokens">
              {input('estimatedTokens', { inputMode: 'numeric', pattern: '[0-9]+' })}
            </Field>
          </div>
          <Field label="Metadata" hint="A JSON object for your own programs.">
            {area('metadata', { rows: 2 })}
          </Field>
        </div>
      </details>
    </>
  );
}

/** The project of a task, and its milestone. */
export function ProjectFields({ values }: { values: Record<string, string> }) {
  const [projectId, setProject] = useState(values['projectId'] ?? '');
  return (
    <div className="pair">
      <ProjectPicker value={projectId} onChange={({ target }) => setProject(target.value)} />
      <MilestonePicker
        key={projectId}
        projectId={projectId}
        defaultValue={projectId === values['projectId'] ? (values['milestoneId'] ?? '') : ''}
      />
    </div>
  );
}
