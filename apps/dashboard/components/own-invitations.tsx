import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { describeError } from '../api/read.js';
import { accountApi } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { notify } from './notices.js';
import { Button, Panel } from './parts.js';

const EVERY_MS = 15_000;

/** The user's own invitations. Renders nothing if there are none. */
export function OwnInvitations() {
  const invitations = useQuery({
    queryKey: ['own-invitations'],
    queryFn: ({ signal }) => accountApi.get('/api/v1/invitations', { signal }),
    refetchInterval: EVERY_MS,
  });
  const items = invitations.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Panel title="Your invitations">
      <ul className="stack">
        {items.map(({ id, workspaceName, role, invitedByName }) => (
          <li key={id} className="budget-line">
            <span>
              <bdi>{stripControls(invitedByName)}</bdi> invited you to{' '}
              <bdi>{stripControls(workspaceName)}</bdi> as {role}.
            </span>
            <span className="chips">
              <Answer id={id} answer="accept" />
              <Answer id={id} answer="decline" />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Answer({ id, answer }: { id: string; answer: 'accept' | 'decline' }) {
  const queries = useQueryClient();
  const give = useMutation({
    mutationFn: () =>
      accountApi.post(`/api/v1/invitations/{id}/${answer}`, { params: { path: { id } } }),
    onError: (error) => notify(describeError(error), 'bad'),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['own-invitations'] }),
        queries.invalidateQueries({ queryKey: ['me'] }),
      ]),
  });
  return (
    <Button disabled={give.isPending} onClick={() => give.mutate()}>
      {answer === 'accept' ? 'Accept' : 'Decline'}
    </Button>
  );
}
