import { ApiProperty } from '@nestjs/swagger';
import {
  Flag,
  WholeId,
  WholeIdList,
  Int,
  Nested,
  NestedList,
  OneOf,
  Text,
  Timestamp,
} from '#lib/http';
import {
  SESSION_ERROR_CLASSES,
  SESSION_EVENTS,
  type SessionErrorClass,
  type SessionEvent,
  type SessionReport,
} from '../../domain/session-report.js';

const GATEWAY_ID = { max: 100, description: 'The id of the gateway, as in its token' };
const MANY = 1_000_000;

export class HeldSessionDto {
  @WholeId() runId!: string;
  @Text({ max: 255 }) sessionKey!: string;
  @OneOf(['QUEUED', 'STARTING', 'RUNNING']) status!: 'QUEUED' | 'STARTING' | 'RUNNING';
}

export class GatewayHeartbeatRequestDto {
  @Text(GATEWAY_ID) gatewayId!: string;
  @WholeId({ description: 'An id that is new at each start of the gateway' }) bootId!: string;
  @Timestamp() startedAt!: string;

  @Int(1, Number.MAX_SAFE_INTEGER, {
    description:
      'The number of the heartbeat since the start of the gateway. The server ignores a ' +
      'heartbeat that arrives late.',
  })
  sequence!: number;

  @Text({ max: 100, optional: true }) version?: string;
  @Int(0, MANY, { description: 'The maximum number of concurrent sessions' }) capacity!: number;
  @Int(0, MANY) running!: number;
  @Int(0, MANY) queued!: number;
  @Flag({ optional: true, description: 'Whether the gateway takes no new sessions' })
  draining?: boolean;

  @NestedList(() => HeldSessionDto, {
    maxItems: 5_000,
    description: 'All live sessions of runs, including sessions from before the last start',
  })
  sessions!: HeldSessionDto[];

  @WholeIdList({
    maxItems: 5_000,
    optional: true,
    description: 'Runs whose sessions ended and whose reports are not sent yet',
  })
  ended?: string[];
}

export class SessionErrorDto {
  @OneOf(SESSION_ERROR_CLASSES) class!: SessionErrorClass;
  @Text({ max: 10_000 }) message!: string;
}

export class SessionReportDto implements SessionReport {
  @WholeId() runId!: string;
  @Text({ max: 255 }) sessionKey!: string;
  @OneOf(SESSION_EVENTS) event!: SessionEvent;
  @Timestamp() at!: string;
  @Int(0, 2_147_483_647, { optional: true, nullable: true }) pid?: number;
  @Int(-1, 255, { optional: true, nullable: true }) exitCode?: number | null;
  @Text({ max: 20, optional: true, nullable: true }) signal?: string | null;
  @Flag({ optional: true }) oomKilled?: boolean;
  @Nested(() => SessionErrorDto, { optional: true, nullable: true }) error?: SessionErrorDto | null;

  @Text({ max: 16_384, optional: true, description: "The end of the session's output" })
  output?: string;
}

export class ReportSessionsDto {
  @Text(GATEWAY_ID) gatewayId!: string;
  @WholeId() bootId!: string;
  @NestedList(() => SessionReportDto, { maxItems: 500 }) reports!: SessionReportDto[];
}

export class GatewaySignalsRequestDto {
  @Text(GATEWAY_ID) gatewayId!: string;
  @WholeIdList({ maxItems: 5_000, description: 'The runs whose sessions the gateway holds' })
  runIds!: string[];
  @Int(0, 30_000, { optional: true, description: 'The time to wait for signals in ms' })
  waitMs?: number;
}

export class SessionStopDto {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty() reason!: string;
  @ApiProperty({ type: 'integer', description: 'The seconds between SIGTERM and SIGKILL' })
  graceSeconds!: number;
}

export class GatewayHeartbeatAnswerDto {
  @ApiProperty({ type: String, format: 'date-time' }) acknowledgedAt!: string;
  @ApiProperty({ description: 'Whether the gateway was known before this start' })
  restarted!: boolean;
  @ApiProperty({ type: [SessionStopDto], description: 'Sessions whose runs have ended' })
  stop!: SessionStopDto[];
}

export class SessionReportResultDto {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty({
    description: 'Whether the server accepted the report. If not, the run ended without it.',
  })
  applied!: boolean;
  @ApiProperty({ required: false, description: 'The reason why the server did not accept it' })
  reason?: string;
}

export class SessionReportResultsDto {
  @ApiProperty({ type: [SessionReportResultDto] }) results!: SessionReportResultDto[];
}

export class GatewaySignalDto extends SessionStopDto {
  @ApiProperty({
    enum: ['stop', 'pause', 'warn'],
    description:
      'The signal. With `warn` the session continues: it seems to hang (`hung`), or more than ' +
      '90 % of a budget of its task is consumed (`budget`).',
  })
  action!: 'stop' | 'pause' | 'warn';
}

export class GatewaySignalsDto {
  @ApiProperty({ type: [GatewaySignalDto] }) runs!: GatewaySignalDto[];
}
