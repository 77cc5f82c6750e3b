import { type FormEvent, useState } from 'react';
import { sentenceOf } from '../api/read.js';
import { session } from '../api/session.js';
import { Brand } from '../components/brand.js';
import { Button, Field } from '../components/parts.js';
import { ThemeSwitch } from '../components/theme.js';

export function SignInPage() {
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function signIn(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      await session.signIn(String(given.get('email')), String(given.get('password')));
    } catch (refused) {
      setError(sentenceOf(refused));
    } finally {
      setBusy(false);
    }
  }

  const said = error ?? session.endedBecause;
  return (
    <main className="sign-in">
      <title>Sign in · Drover</title>
      <form onSubmit={(event) => void signIn(event)}>
        <Brand />
        <h1>Sign in</h1>
        {said && (
          <p className="problem" role="alert">
            {said}
          </p>
        )}
        <Field label="E-mail address">
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
        <Button type="submit" look="primary" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </Button>
        <p className="muted">
          Who started the server finds the first user in <code>.drover/administrator.json</code>.
          Others are invited by a workspace’s admins.
        </p>
        <ThemeSwitch />
      </form>
    </main>
  );
}
