import { ApiProperty } from '@nestjs/swagger';
import { Flag, Id, IdList, Int, Nested, NestedList, OneOf, Text, Timestamp } from '#lib/http';
import {
  SESSION_ERROR_CLASSES,
  SESSION_EVENTS,
  type SessionErrorClass,
  type SessionEvent,
  type SessionReport,
} from '../../domain/session-report.js';

const GATEWAY_ID = { max: 100, description: 'As its token says it' };
const MANY = 1_000_000;

export class HeldSessionDto {
  @Id() runId!: string;
  @Text({ max: 255 }) sessionKey!: string;
  @OneOf(['QUEUED', 'STARTING', 'RUNNING']) status!: 'QUEUED' | 'STARTING' | 'RUNNING';
}

export class GatewayHeartbeatRequestDto {
  @Text(GATEWAY_ID) gatewayId!: string;
  @Id({ description: 'New at each start of the gateway' }) bootId!: string;
  @Timestamp() startedAt!: string;

  @Int(1, Number.MAX_SAFE_INTEGER, {
    description: 'Which heartbeat of this life it is, growing: one that comes late changes nothing',
  })
  sequence!: number;

  @Text({ max: 100, optional: true }) version?: string;
  @Int(0, MANY, { description: 'Sessions that it can run at once' }) capacity!: number;
  @Int(0, MANY) running!: number;
  @Int(0, MANY) queued!: number;
  @Flag({ optional: true, description: 'It takes no new sessions' }) draining?: boolean;

  @NestedList(() => HeldSessionDto, {
    maxItems: 5_000,
    description: 'All its live sessions that are of runs, those of an earlier life included',
  })
  sessions!: HeldSessionDto[];

  @IdList({
    maxItems: 5_000,
    optional: true,
    description: 'Runs whose sessions have ended, and whose reports are still to come',
  })
  ended?: string[];
}

export class SessionErrorDto {
  @OneOf(SESSION_ERROR_CLASSES) class!: SessionErrorClass;
  @Text({ max: 10_000 }) message!: string;
}

export class SessionReportDto implements SessionReport {
  @Id() runId!: string;
  @Text({ max: 255 }) sessionKey!: string;
  @OneOf(SESSION_EVENTS) event!: SessionEvent;
  @Timestamp() at!: string;
  @Int(0, 2_147_483_647, { optional: true, nullable: true }) pid?: number;
  @Int(-1, 255, { optional: true, nullable: true }) exitCode?: number | null;
  @Text({ max: 20, optional: true, nullable: true }) signal?: string | null;
  @Flag({ optional: true }) oomKilled?: boolean;
  @Nested(() => SessionErrorDto, { optional: true, nullable: true }) error?: SessionErrorDto | null;

  @Text({ max: 16_384, optional: true, description: 'The last of what the session wrote' })
  output?: string;
}

export class ReportSessionsDto {
  @Text(GATEWAY_ID) gatewayId!: string;
  @Id() bootId!: string;
  @NestedList(() => SessionReportDto, { maxItems: 500 }) reports!: SessionReportDto[];
}

export class GatewaySignalsRequestDto {
  @Text(GATEWAY_ID) gatewayId!: string;
  @IdList({ maxItems: 5_000, description: 'Runs whose sessions it holds' }) runIds!: string[];
  @Int(0, 30_000, { optional: true, description: 'How long to wait for signals, in ms' })
  waitMs?: number;
}

export class SessionStopDto {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty() reason!: string;
  @ApiProperty({ type: 'integer', description: 'Seconds between TERM and KILL' })
  graceSeconds!: number;
}

export class GatewayHeartbeatAnswerDto {
  @ApiProperty({ type: String, format: 'date-time' }) acknowledgedAt!: string;
  @ApiProperty({ description: 'Whether it was known in an earlier life' }) restarted!: boolean;
  @ApiProperty({ type: [SessionStopDto], description: 'Sessions whose runs are not live any more' })
  stop!: SessionStopDto[];
}

export class SessionReportResultDto {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty({ description: 'false: the run has ended without it' }) applied!: boolean;
  @ApiProperty({ required: false, description: 'Why not' }) reason?: string;
}

export class SessionReportResultsDto {
  @ApiProperty({ type: [SessionReportResultDto] }) results!: SessionReportResultDto[];
}

export class GatewaySignalDto extends SessionStopDto {
  @ApiProperty({ enum: ['stop', 'pause', 'warn'], description: '`warn`: the session goes on' })
  action!: 'stop' | 'pause' | 'warn';
}

export class GatewaySignalsDto {
  @ApiProperty({ type: [GatewaySignalDto] }) runs!: GatewaySignalDto[];
}
