import { useCommand } from '../api/read.js';
import { FormDialog } from './form-dialog.js';
import { Field } from './parts.js';

/** Changes the password of the signed-in user. */
export function OwnPassword() {
  const change = useCommand(
    (api, form: FormData) => {
      const [currentPassword, newPassword] = ['current', 'new'].map((name) =>
        String(form.get(name)),
      ) as [string, string];
      return api.post('/api/v1/auth/password', { body: { currentPassword, newPassword } });
    },
    { done: 'Password changed', changes: [['sessions']] },
  );
  return (
    <FormDialog
      open="Change password"
      title="Change your password"
      confirm="Change password"
      onConfirm={change.mutate}
    >
      <p>All your other sessions end.</p>
      <Field label="Current password">
        <input
          className="input"
          name="current"
          type="password"
          autoComplete="current-password"
          required
          maxLength={200}
        />
      </Field>
      <Field label="New password" hint="At least 12 characters.">
        <input
          className="input"
          name="new"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={200}
        />
      </Field>
    </FormDialog>
  );
}
