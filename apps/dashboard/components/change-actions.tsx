import { useRef } from 'react';
import { useCommand } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import type { LineComment, WholeChange } from '../domain/changes.js';
import { Confirm } from './confirm.js';
import { useKeys } from './keys.js';
import { Button, Field } from './parts.js';

interface ChangeActionsProps {
  change: WholeChange;
  /** Comments that are not sent yet. */
  comments: readonly LineComment[];
  onSent: () => void;
}

/** The decisions of a reviewer. Each names the commit that the page shows. */
export function ChangeActions({ change, comments, onSent }: ChangeActionsProps) {
  const { may } = useWorkspace();
  const { id, state, headCommit } = change;
  const approval = useRef<HTMLDialogElement>(null);
  const request = useRef<HTMLDialogElement>(null);
  const params = { path: { id } };
  const changes = [['change', id], ['changes'], ['task', id]];
  const approve = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/changes/{id}/approve', {
        params,
        body: { headCommit: headCommit ?? '', body: String(form.get('body')) },
      }),
    { done: 'Change approved', changes },
  );
  const requestChanges = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/changes/{id}/request-changes', {
        params,
        body: {
          body: String(form.get('body')),
          comments: [...comments],
          ...(headCommit !== null && { headCommit }),
        },
      }),
    { done: 'Change sent back to its agent', changes, onDone: onSent },
  );
  const merge = useCommand((api) => api.post('/api/v1/changes/{id}/merge', { params }), {
    done: 'Merge requested',
    changes,
  });
  const isInReview = state === 'IN_REVIEW' && may('MEMBER');
  const waits = state === 'APPROVED' && may('MEMBER');
  useKeys({
    ...(isInReview && {
      a: () => approval.current?.showModal(),
      r: () => request.current?.showModal(),
    }),
    ...(waits && { m: () => merge.mutate(undefined) }),
  });
  return (
    <>
      {isInReview && (
        <>
          <Button
            look="primary"
            aria-keyshortcuts="a"
            onClick={() => approval.current?.showModal()}
          >
            Approve
          </Button>
          <Button aria-keyshortcuts="r" onClick={() => request.current?.showModal()}>
            Request changes{comments.length > 0 && ` (${comments.length})`}
          </Button>
        </>
      )}
      {waits && (
        <Button
          aria-keyshortcuts="m"
          disabled={merge.isPending}
          onClick={() => merge.mutate(undefined)}
        >
          Merge now
        </Button>
      )}
      <Confirm
        dialog={approval}
        title="Approve this change"
        confirm="Approve"
        onConfirm={approve.mutate}
      >
        <p>
          It is rebased onto {change.target}, proven again if that changes it, and merged.
          {change.attemptsId !== null && ' The other attempts are closed.'}
        </p>
        <Field label="Comment">
          <textarea className="input" name="body" rows={3} />
        </Field>
      </Confirm>
      <Confirm
        dialog={request}
        title="Request changes"
        confirm="Send to the agent"
        onConfirm={requestChanges.mutate}
      >
        <p>
          The agent continues its conversation with your words
          {comments.length > 0 && ` and ${comments.length} comments by line`}.
        </p>
        <Field label="What the agent must change">
          <textarea className="input" name="body" rows={5} required />
        </Field>
      </Confirm>
    </>
  );
}
