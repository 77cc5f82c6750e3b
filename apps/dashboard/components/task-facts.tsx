import { Link } from '@tanstack/react-router';
import { formatCount, formatExact, stripControls } from '../domain/format.js';
import type { Task } from '../domain/status.js';
import { AgentLink } from './agent-link.js';
import { Caller } from './caller.js';
import { Ago, Facts, Meter, Panel } from './parts.js';
import { ProjectLink, ScheduleLink, TaskLink } from './thing-links.js';

/** The fields of a task, with links to the things that they name. */
export function TaskFacts({ task }: { task: Task }) {
  return (
    <Panel title="Task">
      <Facts
        items={[
          [
            'Progress',
            <>
              {task.progressPercent}%{task.currentStep && `, ${stripControls(task.currentStep)}`}
              <Meter percent={task.progressPercent} label="Progress" />
            </>,
          ],
          ['Type', stripControls(task.taskType)],
          ['Priority', task.priority],
          ['Agent', task.agentId && <AgentLink id={task.agentId} />],
          [
            'Project',
            task.projectId && <ProjectLink id={task.projectId} milestoneId={task.milestoneId} />,
          ],
          ['Capabilities', stripControls(task.requiredCapabilities.join(', ')) || null],
          [
            'Change',
            task.repositoryId && (
              <Link to="/reviews/$id" params={{ id: task.id }} className="link">
                View change and review
              </Link>
            ),
          ],
          ['Tags', task.tags.length === 0 ? null : stripControls(task.tags.join(', '))],
          ['Retries', `${task.retryCount} of ${task.maxRetries} used`],
          ['Next retry', task.retryAt && <Ago at={task.retryAt} />],
          ['Estimated tokens', `${formatCount(task.estimatedTokens)} (${task.estimateSource})`],
          ['Created', <Ago at={task.createdAt} />],
          ...timesAndKeys(task),
          ['Started', task.startedAt && <Ago at={task.startedAt} />],
          ['Finished', finishedAt(task) && <Ago at={finishedAt(task)} />],
          [
            'Paused by',
            task.status === 'PAUSED' ? task.pausedBy && <Caller of={task.pausedBy} /> : null,
          ],
          ['Parent', task.parentTaskId && <TaskLink id={task.parentTaskId} />],
          ['Continues', task.continuesId && <TaskLink id={task.continuesId} />],
          ['Replays', task.replaysId && <TaskLink id={task.replaysId} />],
          ['Replayed by', task.replayedById && <TaskLink id={task.replayedById} />],
          ['ID', <code>{task.id}</code>],
        ]}
      />
    </Panel>
  );
}

function timesAndKeys(task: Task): Parameters<typeof Facts>[0]['items'] {
  const { scheduleId, scheduledFor, concurrencyKey, concurrencyLimit, debounceKey } = task;
  const limit = concurrencyLimit === null ? '' : `, at most ${concurrencyLimit} at once`;
  return [
    ['Schedule', scheduleId && <ScheduleLink id={scheduleId} />],
    ['Due', scheduledFor && <time dateTime={scheduledFor}>{formatExact(scheduledFor)}</time>],
    ['Earliest start', task.startAt && <Ago at={task.startAt} />],
    ['Expires', task.queueExpiresAt && <Ago at={task.queueExpiresAt} />],
    ['Concurrency key', concurrencyKey && stripControls(concurrencyKey) + limit],
    ['Debounce key', debounceKey && stripControls(debounceKey)],
  ];
}

function finishedAt({ completedAt, failedAt, abortedAt }: Task): string | null {
  return completedAt ?? failedAt ?? abortedAt;
}
