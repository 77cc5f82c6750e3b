import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { DroverProblem } from '#lib/api-client';
import { describeError } from '../api/read.js';
import { anybodyApi, session } from '../api/session.js';
import { Brand } from '../components/brand.js';
import { Button, Field } from '../components/parts.js';
import { ThemeSwitch } from '../components/theme.js';

export function SignInPage() {
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [needsCode, setNeedsCode] = useState(false);

  async function signIn(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      const code = form.get('code');
      const [email, password] = [String(form.get('email')), String(form.get('password'))];
      await session.signIn(email, password, code === null ? undefined : String(code));
    } catch (refused) {
      if (refused instanceof DroverProblem && refused.code === 'second_factor_required') {
        return setNeedsCode(true);
      }
      setError(describeError(refused));
    } finally {
      setBusy(false);
    }
  }

  const methods = useQuery({
    queryKey: ['sign-in-methods'],
    queryFn: ({ signal }) => anybodyApi.get('/api/v1/auth/methods', { signal }),
    retry: false,
  });
  const { password = true, singleSignOn = null } = methods.data ?? {};
  async function leave(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      await session.startSingleSignOn();
    } catch (refused) {
      setError(describeError(refused));
      setBusy(false);
    }
  }

  const problem = error ?? session.endedBecause;
  return (
    <main className="sign-in">
      <title>Sign in · Drover</title>
      <form onSubmit={(event) => void signIn(event)}>
        <Brand />
        <h1>Sign in</h1>
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {singleSignOn && (
          <Button
            look={password ? 'quiet' : 'primary'}
            disabled={busy}
            onClick={() => void leave()}
          >
            Continue with <bdi>{singleSignOn.name}</bdi>
          </Button>
        )}
        {password && <PasswordFields busy={busy} needsCode={needsCode} />}
        <ThemeSwitch />
      </form>
    </main>
  );
}

function PasswordFields({ busy, needsCode }: { busy: boolean; needsCode: boolean }) {
  return (
    <>
      <Field label="Email address">
        <input className="input" name="email" type="email" autoComplete="username" required />
      </Field>
      <Field label="Password">
        <input
          className="input"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
      </Field>
      {needsCode && (
        <Field label="Code" hint="A code of your app, or a recovery code.">
          <input
            className="input"
            name="code"
            autoComplete="one-time-code"
            autoFocus
            required
            minLength={6}
            maxLength={40}
          />
        </Field>
      )}
      <Button type="submit" look="primary" disabled={busy}>
        {busy ? 'Signing in…' : 'Sign in'}
      </Button>
      <p className="muted">
        The operator finds the first user in <code>administrator.json</code> of the data folder.
        Workspace admins invite other users.
      </p>
    </>
  );
}
