import { Link } from '@tanstack/react-router';
import { type components, describeTime, splitMessage } from '#lib/api-client';
import { formatDuration, formatExact, stripControls } from '../domain/format.js';
import { useNow } from './now.js';

type Param = components['schemas']['MessageParam'];

interface MessageProps {
  text: string;
  params: readonly Param[];
}

/** A sentence whose tasks, agents and budgets are links, and whose times are relative. */
export function Message({ text, params }: MessageProps) {
  return splitMessage(text, params).map((part, index) =>
    typeof part === 'string' ? stripControls(part) : <Part key={index} param={part} />,
  );
}

function Time({ param }: { param: Param }) {
  return (
    <time dateTime={param.name} title={formatExact(param.name)} className="nowrap">
      {describeTime(param, useNow(), formatDuration)}
    </time>
  );
}

function Part({ param }: { param: Param }) {
  const { kind, name, id } = param;
  const text = <bdi>{stripControls(name)}</bdi>;
  if (kind === 'time') return <Time param={param} />;
  if (kind === 'task' && id !== null)
    return (
      <Link to="/tasks/$id" params={{ id }} className="link">
        {text}
      </Link>
    );
  if (kind === 'agent' && id !== null)
    return (
      <Link to="/agents/$id" params={{ id }} className="link">
        {text}
      </Link>
    );
  if (kind === 'budget')
    return (
      <Link to="/budgets" className="link">
        {text}
      </Link>
    );
  return text;
}
