import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { components } from '#lib/api-client';
import { closeInvitation } from '../api/invitation.js';
import { describeError } from '../api/read.js';
import { anybodyApi, session } from '../api/session.js';
import { accountApi } from '../api/workspace.js';
import { Brand } from '../components/brand.js';
import { notify } from '../components/notices.js';
import { Button, Field } from '../components/parts.js';
import { ThemeSwitch } from '../components/theme.js';
import { stripControls } from '../domain/format.js';
import { SignInPage } from './sign-in.js';

type Invitation = components['schemas']['LinkedInvitation'];

interface Props {
  token: string;
  signedIn: boolean;
  /** Called when the invitation is answered, or is not wanted. */
  onClose: () => void;
}

/** Leads the holder of an invitation link into the workspace, with or without an account. */
export function InvitationPage({ token, signedIn, onClose }: Props) {
  const [hasAccount, setHasAccount] = useState(false);
  const queries = useQueryClient();
  const router = useRouter();
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => anybodyApi.post('/api/v1/auth/invitation', { body: { token } }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  const methods = useQuery({
    queryKey: ['sign-in-methods'],
    queryFn: () => anybodyApi.get('/api/v1/auth/methods'),
    retry: false,
  });
  function close(): void {
    closeInvitation();
    void queries.invalidateQueries({ queryKey: ['me'] });
    void router.navigate({ to: '/' });
    onClose();
  }
  if (hasAccount && !signedIn) return <SignInPage />;
  return (
    <main className="sign-in">
      <title>Invitation · Drover</title>
      <div className="form">
        <Brand />
        <h1>Invitation</h1>
        {invitation.isPending && <p aria-busy="true">Loading…</p>}
        {invitation.error && (
          <>
            <p className="problem" role="alert">
              {describeError(invitation.error)}
            </p>
            <Button onClick={close}>Continue without it</Button>
          </>
        )}
        {invitation.data && (
          <>
            <Summary invitation={invitation.data} />
            {signedIn ? (
              <Accept token={token} onClose={close} />
            ) : (
              <>
                {methods.data?.password !== false && (
                  <SignUp token={token} invitation={invitation.data} onDone={close} />
                )}
                <Button look="quiet" onClick={() => setHasAccount(true)}>
                  {methods.data?.password === false ? 'Sign in to accept' : 'I have an account'}
                </Button>
              </>
            )}
          </>
        )}
        <ThemeSwitch />
      </div>
    </main>
  );
}

function Summary({ invitation: { invitedByName, workspaceName, role, email } }: InvitationProps) {
  return (
    <p>
      <bdi>{stripControls(invitedByName)}</bdi> invites <bdi>{email ?? 'you'}</bdi> to the workspace{' '}
      <bdi>{stripControls(workspaceName)}</bdi> as {role}.
    </p>
  );
}

interface InvitationProps {
  invitation: Invitation;
}

function SignUp({
  token,
  invitation,
  onDone,
}: InvitationProps & { token: string; onDone: () => void }) {
  const signUp = useMutation({
    mutationFn: async (form: FormData) => {
      const body = {
        token,
        name: String(form.get('name')).trim(),
        password: String(form.get('password')),
        ...(invitation.email === null && { email: String(form.get('email')).trim() }),
      };
      session.accept(await anybodyApi.post('/api/v1/auth/invitation/sign-up', { body }));
    },
    onSuccess: onDone,
  });
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    signUp.mutate(new FormData(event.currentTarget));
  }
  return (
    <form onSubmit={submit}>
      {signUp.error && (
        <p className="problem" role="alert">
          {describeError(signUp.error)}
        </p>
      )}
      <Field label="Name">
        <input className="input" name="name" autoComplete="name" required maxLength={200} />
      </Field>
      <Field label="Email address">
        <input
          className="input"
          name="email"
          type="email"
          autoComplete="username"
          required
          maxLength={320}
          {...(invitation.email !== null && { value: invitation.email, readOnly: true })}
        />
      </Field>
      <Field label="Password" hint="At least 12 characters.">
        <input
          className="input"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={200}
        />
      </Field>
      <Button type="submit" look="primary" disabled={signUp.isPending}>
        {signUp.isPending ? 'Creating account…' : 'Create account'}
      </Button>
    </form>
  );
}

function Accept({ token, onClose }: { token: string; onClose: () => void }) {
  const accept = useMutation({
    mutationFn: () => accountApi.post('/api/v1/invitations/accept', { body: { token } }),
    onSuccess: () => {
      notify('Invitation accepted');
      onClose();
    },
  });
  return (
    <>
      {accept.error && (
        <p className="problem" role="alert">
          {describeError(accept.error)}
        </p>
      )}
      <Button look="primary" disabled={accept.isPending} onClick={() => accept.mutate()}>
        Accept invitation
      </Button>
      <Button onClick={onClose}>Not now</Button>
      <Button look="quiet" onClick={() => void session.signOut()}>
        Use another account
      </Button>
    </>
  );
}
