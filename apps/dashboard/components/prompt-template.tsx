import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '#lib/api-client';
import { describeError, useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { Foreign } from './foreign.js';
import { FormDialog, ifMatch } from './form-dialog.js';
import { Ago, Button, Field, Loaded, Panel } from './parts.js';

type Template = components['schemas']['PromptTemplate'];

const CHANGES = [['prompt-template']];

/** The template for prompts of coding agents, for admins. */
export function PromptTemplate() {
  const [isOpen, setOpen] = useState(false);
  const template = useRead(['prompt-template'], (api, signal) =>
    api.get('/api/v1/prompt-template', { signal }),
  );
  const { data } = template;
  return (
    <Panel
      title="Prompt of coding agents"
      end={
        data && (
          <>
            {data.source === 'workspace' && <ResetTemplate />}
            <EditTemplate of={data} />
          </>
        )
      }
    >
      <Loaded query={template}>
        {({ source, updatedAt, template: text }) => (
          <div className="stack">
            <p>
              {source === 'workspace' ? (
                <>
                  The workspace has its own template, changed <Ago at={updatedAt} />.
                </>
              ) : (
                'The workspace uses the template of Drover.'
              )}
            </p>
            <details onToggle={(event) => setOpen(event.currentTarget.open)}>
              <summary>Template</summary>
              {isOpen && <Foreign text={text} />}
            </details>
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function EditTemplate({ of: { template, version } }: { of: Template }) {
  const set = useCommand(
    (api, form: FormData) =>
      api.put('/api/v1/prompt-template', {
        params: { header: ifMatch(form) },
        body: { template: String(form.get('template')) },
      }),
    { done: 'Template changed', changes: CHANGES },
  );
  return (
    <FormDialog
      open="Edit template"
      title="Edit the template of prompts"
      confirm="Save template"
      version={version}
      onConfirm={set.mutate}
    >
      <Field
        label="Template"
        hint="Mustache, with placeholders such as {{title}}, {{instructions}} and {{acceptance}}."
      >
        <textarea
          className="input mono"
          name="template"
          rows={14}
          required
          maxLength={20_000}
          defaultValue={template}
        />
      </Field>
      <Preview />
    </FormDialog>
  );
}

/** The prompt that a task would get from the template of the form, before it is saved. */
function Preview() {
  const { api } = useWorkspace();
  const preview = useMutation({
    mutationFn: (form: FormData) =>
      api.post('/api/v1/agent-tasks/{id}/prompt', {
        params: { path: { id: String(form.get('previewed')).trim() } },
        body: { template: String(form.get('template')) },
      }),
  });
  return (
    <>
      <Field label="Task to try it with" hint="Its ID, or the first digits.">
        <input
          className="input mono"
          name="previewed"
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // Enter would save the template that is being tried.
            event.preventDefault();
            preview.mutate(new FormData(event.currentTarget.form ?? undefined));
          }}
        />
      </Field>
      <p>
        <Button
          disabled={preview.isPending}
          onClick={({ currentTarget: { form } }) => form && preview.mutate(new FormData(form))}
        >
          Preview prompt
        </Button>
      </p>
      {preview.error && (
        <p className="problem" role="alert">
          {describeError(preview.error)}
        </p>
      )}
      {preview.data && <Foreign text={preview.data.prompt} />}
    </>
  );
}

function ResetTemplate() {
  const reset = useCommand((api) => api.delete('/api/v1/prompt-template', {}), {
    done: 'Template reset',
    changes: CHANGES,
  });
  return (
    <FormDialog
      open="Reset template"
      look="danger"
      title="Use the template of Drover?"
      confirm="Reset template"
      onConfirm={(_, callbacks) => reset.mutate(undefined, callbacks)}
    >
      <p>The template of the workspace is deleted.</p>
    </FormDialog>
  );
}
