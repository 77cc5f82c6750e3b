import qrcode from 'qrcode-generator';
import { useState } from 'react';
import { useCommand, useRead } from '../api/read.js';
import { FormDialog } from './form-dialog.js';
import { Field, Loaded, Panel } from './parts.js';
import { Secret } from './secret.js';

const CHANGES = [['second-factor'], ['sessions']];

/** The second factor of the signed-in user: an app with codes, and recovery codes. */
export function SecondFactor() {
  const [started, setStarted] = useState<{ secret: string; uri: string }>();
  const [codes, setCodes] = useState<string[]>();
  const state = useRead(['second-factor'], (api, signal) =>
    api.get('/api/v1/auth/second-factor', { signal }),
  );
  function finish(recoveryCodes: string[]): void {
    setStarted(undefined);
    setCodes(recoveryCodes);
  }
  return (
    <>
      {codes && <Secret title="Recovery codes" value={codes.join('\n')} />}
      <Panel title="Second factor">
        <Loaded query={state}>
          {({ enabled, recoveryCodes }) =>
            enabled ? (
              <>
                <p>
                  Your password alone does not sign in. You have {recoveryCodes} unused recovery
                  codes.
                </p>
                <span className="chips">
                  <ReplaceCodes onCodes={setCodes} /> <Remove onDone={() => setCodes(undefined)} />
                </span>
              </>
            ) : (
              <>
                <p>An app with codes protects your account if somebody learns your password.</p>
                {started ? <Scan {...started} onCodes={finish} /> : <Start onStart={setStarted} />}
              </>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Start({ onStart }: { onStart: (started: { secret: string; uri: string }) => void }) {
  const start = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/auth/second-factor', {
        body: { password: String(form.get('password')) },
      }),
    { done: 'Scan the code with your app', changes: [], onDone: onStart },
  );
  return (
    <FormDialog
      open="Set up second factor"
      title="Set up a second factor"
      confirm="Continue"
      onConfirm={start.mutate}
    >
      <Field label="Password">
        <input
          className="input"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={200}
        />
      </Field>
    </FormDialog>
  );
}

interface OnCodes {
  onCodes: (recoveryCodes: string[]) => void;
}

function Scan({ secret, uri, onCodes }: OnCodes & { secret: string; uri: string }) {
  const complete = useCommand(
    (api, form: FormData) => api.post('/api/v1/auth/second-factor/complete', codeIn(form)),
    {
      done: 'Second factor enabled',
      changes: CHANGES,
      onDone: ({ recoveryCodes }) => onCodes(recoveryCodes),
    },
  );
  return (
    <>
      <p>Scan this with your app, or enter the secret. Then enter the code that the app shows.</p>
      <img src={toQrCode(uri)} alt="QR code of the secret" />
      <p>
        Secret: <code>{secret}</code>
      </p>
      <FormDialog
        open="Enter code"
        look="primary"
        title="Enter the code of your app"
        confirm="Enable second factor"
        onConfirm={complete.mutate}
      >
        <p>All your other sessions end.</p>
        <Code />
      </FormDialog>
    </>
  );
}

function ReplaceCodes({ onCodes }: OnCodes) {
  const replace = useCommand(
    (api, form: FormData) => api.post('/api/v1/auth/second-factor/recovery-codes', codeIn(form)),
    {
      done: 'Recovery codes replaced',
      changes: CHANGES,
      onDone: ({ recoveryCodes }) => onCodes(recoveryCodes),
    },
  );
  return (
    <FormDialog
      open="Replace recovery codes"
      title="Replace your recovery codes?"
      confirm="Replace recovery codes"
      onConfirm={replace.mutate}
    >
      <Code />
    </FormDialog>
  );
}

function Remove({ onDone }: { onDone: () => void }) {
  const remove = useCommand(
    (api, form: FormData) => api.post('/api/v1/auth/second-factor/remove', codeIn(form)),
    { done: 'Second factor removed', changes: CHANGES, onDone },
  );
  return (
    <FormDialog
      open="Remove second factor"
      look="danger"
      title="Remove your second factor?"
      confirm="Remove second factor"
      onConfirm={remove.mutate}
    >
      <Code />
    </FormDialog>
  );
}

function Code() {
  return (
    <Field label="Code" hint="A code of your app, or a recovery code.">
      <input
        className="input"
        name="code"
        autoComplete="one-time-code"
        required
        minLength={6}
        maxLength={40}
      />
    </Field>
  );
}

function codeIn(form: FormData): { body: { code: string } } {
  return { body: { code: String(form.get('code')).trim() } };
}

/** An image, as address with the data in it. */
function toQrCode(text: string): string {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  return code.createDataURL(4, 16);
}
