import { useState } from 'react';
import type { components } from '#lib/api-client';
import type { CredentialChange } from '../domain/repository-draft.js';
import { Field } from './parts.js';

type Repository = components['schemas']['Repository'];

const KINDS = { token: 'Token for https', ssh: 'Key for SSH' };
const SEALED = 'It is sealed and never shown.';

/** Replaces or removes the credentials and the signing key of a repository. Nobody can read them. */
export function CredentialFields({ of: { credentials, hasSigningKey } }: { of: Repository }) {
  const [change, setChange] = useState<CredentialChange>('keep');
  const present = credentials === null ? 'None' : `${KINDS[credentials]}, set`;
  return (
    <>
      <Field label="Credentials">
        <select
          className="input"
          name="credentials"
          value={change}
          onChange={(event) => setChange(event.target.value as CredentialChange)}
        >
          <option value="keep">{present}</option>
          <option value="token">New token for https</option>
          <option value="ssh">New key for SSH</option>
          {credentials !== null && <option value="remove">Remove the credentials</option>}
        </select>
      </Field>
      {change === 'token' && (
        <div className="pair">
          <Field label="Token" hint={SEALED}>
            <input
              className="input"
              name="credentials.token"
              type="password"
              autoComplete="off"
              required
            />
          </Field>
          <Field label="User name of the token" hint="Empty: x-access-token.">
            <input className="input" name="credentials.username" autoComplete="off" />
          </Field>
        </div>
      )}
      {change === 'ssh' && (
        <>
          <Key label="Private key for SSH" name="credentials.privateKey" required />
          <Field label="Known hosts" hint="Keys of the server, as ssh-keyscan prints them.">
            <textarea
              className="input"
              name="credentials.knownHosts"
              rows={2}
              maxLength={20_000}
              spellCheck={false}
              required
            />
          </Field>
        </>
      )}
      <Key label={`Signing key (${hasSigningKey ? 'set' : 'none'})`} name="signingKey" />
      {hasSigningKey && (
        <label>
          <input type="checkbox" name="removeSigningKey" /> Remove the signing key
        </label>
      )}
    </>
  );
}

function Key({ label, name, required }: { label: string; name: string; required?: boolean }) {
  return (
    <Field
      label={label}
      hint={`In the format of OpenSSH. ${SEALED}${required ? '' : ' Empty: no change.'}`}
    >
      <textarea
        className="input"
        name={name}
        rows={3}
        maxLength={20_000}
        spellCheck={false}
        autoComplete="off"
        required={required}
      />
    </Field>
  );
}
