import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { Badge } from '../components/badge.js';
import { ChangeActions } from '../components/change-actions.js';
import type { DiffView } from '../components/change-diff.js';
import { ChangeReviews } from '../components/change-reviews.js';
import { Transcript } from '../components/conversation.js';
import { Foreign } from '../components/foreign.js';
import { useKeys } from '../components/keys.js';
import { Ago, Button, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { type LineComment, shortCommit, type WholeChange } from '../domain/changes.js';
import { formatCount, formatDollars, formatDuration, stripControls } from '../domain/format.js';

const ChangeDiff = lazy(() =>
  import('../components/change-diff.js').then((module) => ({ default: module.ChangeDiff })),
);

const route = getRouteApi('/reviews/$id');
const EVERY_MS = 5_000;

export function ReviewPage() {
  const { id } = route.useParams();
  const change = useRead(
    ['change', id],
    (api, signal) => api.get('/api/v1/changes/{id}', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  return <Loaded query={change}>{(data) => <OneChange key={id} change={data} />}</Loaded>;
}

function OneChange({ change }: { change: WholeChange }) {
  const { headCommit } = change;
  // Comments are about the commit that was shown when they were written.
  const [pending, setPending] = useState<{ commit: string | null; all: LineComment[] }>();
  const comments = pending?.commit === headCommit ? pending.all : [];
  const add = (comment: LineComment) =>
    setPending({ commit: headCommit, all: [...comments, comment] });
  return (
    <Page
      isThing
      title={stripControls(change.title)}
      above={<Link to="/reviews">Reviews</Link>}
      beside={<Badge state={change.state} />}
      actions={
        <ChangeActions change={change} comments={comments} onSent={() => setPending(undefined)} />
      }
    >
      <div className="split">
        <div className="stack">
          {change.obstacle !== null && (
            <p className="problem" dir="auto">
              {stripControls(change.obstacle)}
            </p>
          )}
          {change.summary !== null && (
            <Panel title="Summary">
              <Foreign text={change.summary} />
            </Panel>
          )}
          {headCommit !== null && (
            <DiffOf change={change} commit={headCommit} comments={comments} onComment={add} />
          )}
        </div>
        <div className="stack">
          <ChangeFacts change={change} />
          <ChangeReviews reviews={change.reviews} />
          {change.agentKind !== null && (
            <Panel title="Transcript">
              <Transcript taskId={change.id} />
            </Panel>
          )}
        </div>
      </div>
    </Page>
  );
}

interface DiffOfProps {
  change: WholeChange;
  commit: string;
  comments: LineComment[];
  onComment: (comment: LineComment) => void;
}

function DiffOf({ change, commit, comments, onComment }: DiffOfProps) {
  const { may } = useWorkspace();
  const [view, setView] = useState<DiffView>('unified');
  const { id } = change;
  const diff = useRead(['change', id, 'diff', commit], async (api, signal) => {
    const text = await api.get('/api/v1/changes/{id}/diff', { params: { path: { id } }, signal });
    return String(text);
  });
  const toggle = () => setView(view === 'split' ? 'unified' : 'split');
  useKeys({ v: toggle, j: () => step(1), k: () => step(-1) });
  const sent = change.reviews.filter((review) => review.commit === commit);
  const earlier = sent.flatMap((review) => review.comments).map(toLineComment);
  const mayComment = change.state === 'IN_REVIEW' && may('MEMBER');
  return (
    <>
      <p className="muted">
        <Button aria-keyshortcuts="v" onClick={toggle}>
          {view === 'split' ? 'Unified' : 'Side by side'}
        </Button>{' '}
        Keys: <kbd>j</kbd> and <kbd>k</kbd> next and previous file, <kbd>v</kbd> view
        {mayComment && (
          <>
            , <kbd>a</kbd> approve, <kbd>r</kbd> request changes. A click on a line number opens a
            comment.
          </>
        )}
        {change.state === 'APPROVED' && may('MEMBER') && (
          <>
            , <kbd>m</kbd> merge now
          </>
        )}
      </p>
      <Loaded query={diff}>
        {(text) => (
          <Suspense fallback={<div className="state">Loading…</div>}>
            <ChangeDiff
              diff={text}
              view={view}
              comments={[...earlier, ...comments]}
              onComment={mayComment ? onComment : undefined}
            />
          </Suspense>
        )}
      </Loaded>
    </>
  );
}

type SentComment = WholeChange['reviews'][number]['comments'][number];

function toLineComment({ path, line, side = 'after', text }: SentComment): LineComment {
  return { path, line, side, text };
}

/** Moves to the next file below the top of the window, or to the one before. */
function step(by: 1 | -1): void {
  const files = [...document.querySelectorAll<HTMLElement>('section[id^="file-"]')];
  const tops = files.map((file) => file.getBoundingClientRect().top);
  const next = by > 0 ? tops.findIndex((top) => top > 8) : tops.findLastIndex((top) => top < -8);
  files[next]?.scrollIntoView();
}

function ChangeFacts({ change }: { change: WholeChange }) {
  const { cost, filesChanged, insertions, deletions, mergedCommit } = change;
  const lines = `${filesChanged ?? 0} ${filesChanged === 1 ? 'file' : 'files'}, +${insertions ?? 0} −${deletions ?? 0}`;
  return (
    <Panel title="Change">
      <Facts
        items={[
          [
            'Repository',
            <Link to="/repositories/$id" params={{ id: change.repositoryId }} className="link">
              {change.repositoryName}
            </Link>,
          ],
          [
            'Pull request',
            change.pullRequest && (
              <a href={change.pullRequest.url} className="link" rel="noreferrer">
                #{change.pullRequest.number}
              </a>
            ),
          ],
          ['Branch', change.branch && <code>{stripControls(change.branch)}</code>],
          ['Lands on', <code>{stripControls(change.target)}</code>],
          ['Size', filesChanged === null ? null : lines],
          ['Commit', change.headCommit && <code>{shortCommit(change.headCommit)}</code>],
          ['Merged as', mergedCommit && <code>{shortCommit(mergedCommit)}</code>],
          ['Revision', change.revision],
          ['Agent', change.agentKind],
          ['Tokens', formatCount(cost.tokens)],
          ['Cost', formatDollars(cost.costUsd)],
          ['Time at work', formatDuration(cost.workSeconds)],
          ['Wait for review', cost.reviewRounds > 0 ? formatDuration(cost.reviewSeconds) : null],
          [
            'Attempts',
            change.attemptsId && (
              <Link to="/reviews/$id/compare" params={{ id: change.id }} className="link">
                Compare the attempts
              </Link>
            ),
          ],
          ['Submitted', change.submittedAt && <Ago at={change.submittedAt} />],
          ['Review due', change.reviewDueAt && <Ago at={change.reviewDueAt} />],
          ['Approved', change.approvedAt && <Ago at={change.approvedAt} />],
          ['Merged', change.mergedAt && <Ago at={change.mergedAt} />],
          [
            'Task',
            <Link to="/tasks/$id" params={{ id: change.id }} className="link">
              View task and conversation
            </Link>,
          ],
        ]}
      />
    </Panel>
  );
}
