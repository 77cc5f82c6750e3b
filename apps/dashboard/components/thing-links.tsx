import { Link } from '@tanstack/react-router';
import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';

interface ThingProps {
  id: string;
}

/** Links to a task by its title, as soon as the title is loaded. */
export function TaskLink({ id }: ThingProps) {
  const { data } = useRead(['task-titles', id], (api, signal) =>
    api.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal }),
  );
  return (
    <Link to="/tasks/$id" params={{ id }} className="link">
      <bdi>{stripControls(data?.title ?? 'a task')}</bdi>
    </Link>
  );
}

/** Links to a project by its name, and to the tasks of its milestone. */
export function ProjectLink({ id, milestoneId }: ThingProps & { milestoneId: string | null }) {
  const { data: project } = useRead(['project-names', id], (api, signal) =>
    api.get('/api/v1/projects/{id}', { params: { path: { id } }, signal }),
  );
  const { data: milestone } = useRead(
    ['milestone-names', milestoneId],
    (api, signal) =>
      api.get('/api/v1/milestones/{id}', { params: { path: { id: milestoneId ?? '' } }, signal }),
    { enabled: milestoneId !== null },
  );
  return (
    <>
      <Link to="/projects/$id" params={{ id }} className="link">
        <bdi>{stripControls(project?.name ?? 'a project')}</bdi>
      </Link>
      {milestoneId !== null && (
        <>
          {', '}
          <Link to="/tasks" search={{ milestoneId }} className="link">
            <bdi>{stripControls(milestone?.name ?? 'a milestone')}</bdi>
          </Link>
        </>
      )}
    </>
  );
}

/** Links to a schedule by its name. A deleted one has no page. */
export function ScheduleLink({ id }: ThingProps) {
  const { data, isError } = useRead(['schedule-names', id], (api, signal) =>
    api.get('/api/v1/schedules/{id}', { params: { path: { id } }, signal }),
  );
  if (isError)
    return (
      <Link to="/tasks" search={{ scheduleId: id }} className="link">
        a deleted schedule
      </Link>
    );
  return (
    <Link to="/schedules/$id" params={{ id }} className="link">
      <bdi>{stripControls(data?.name ?? 'a schedule')}</bdi>
    </Link>
  );
}
