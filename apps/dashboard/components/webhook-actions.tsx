import { useNavigate } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useCommand } from '../api/read.js';
import { readWebhook } from '../domain/notice-draft.js';
import { FormDialog, ifMatch } from './form-dialog.js';
import { Button } from './parts.js';
import { WebhookFields } from './webhook-fields.js';

type Webhook = components['schemas']['Webhook'];

interface WebhookActionsProps {
  webhook: Webhook;
  onSecret: (secret: string) => void;
}

/** Edits, disables, rotates and deletes a webhook or a notice. */
export function WebhookActions({ webhook, onSecret }: WebhookActionsProps) {
  const { id, kind, enabled, version } = webhook;
  const navigate = useNavigate();
  const params = { path: { id } };
  const word = kind === 'signed' ? 'webhook' : 'notice';
  const changes = [['webhooks'], ['attention']];
  const edit = useCommand(
    async (api, form: FormData) =>
      api.patch('/api/v1/webhooks/{id}', {
        params: { ...params, header: ifMatch(form) },
        body: readWebhook(form, kind),
      }),
    { done: 'Changes saved', changes },
  );
  const enable = useCommand(
    (api) =>
      api.patch('/api/v1/webhooks/{id}', {
        params: { ...params, header: { 'If-Match': `"${version}"` } },
        body: { enabled: !enabled },
      }),
    { done: enabled ? 'Disabled' : 'Enabled', changes },
  );
  const rotate = useCommand((api) => api.post('/api/v1/webhooks/{id}/rotate', { params }), {
    done: 'Secret rotated',
    changes,
    onDone: ({ secret }) => {
      if (secret !== null) onSecret(secret);
    },
  });
  const remove = useCommand((api) => api.delete('/api/v1/webhooks/{id}', { params }), {
    done: 'Deleted',
    changes: [['webhooks', 'notices'], ['attention']],
    onDone: () => void navigate({ to: kind === 'signed' ? '/webhooks' : '/notices' }),
  });
  return (
    <>
      <FormDialog
        open="Edit"
        title={`Edit ${word}`}
        confirm="Save changes"
        version={version}
        onConfirm={edit.mutate}
      >
        <WebhookFields kind={kind} of={webhook} />
      </FormDialog>
      <Button disabled={enable.isPending} onClick={() => enable.mutate(undefined)}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      {kind === 'signed' && (
        <FormDialog
          open="Rotate secret"
          title="Rotate the secret?"
          confirm="Rotate secret"
          onConfirm={(_, callbacks) => rotate.mutate(undefined, callbacks)}
        >
          <p>The old secret also signs messages for 24 hours.</p>
        </FormDialog>
      )}
      <FormDialog
        open="Delete"
        look="danger"
        title={`Delete this ${word}?`}
        confirm={`Delete ${word}`}
        onConfirm={(_, callbacks) => remove.mutate(undefined, callbacks)}
      >
        <p>Its waiting deliveries are deleted, too.</p>
      </FormDialog>
    </>
  );
}
