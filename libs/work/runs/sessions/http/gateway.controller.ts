import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, ClientGone } from '#lib/http';
import { Public } from '#lib/identity';
import { DroverError } from '#lib/kernel';
import { GatewayHeartbeats } from '../reports/gateway-heartbeats.js';
import { GatewaySignals } from '../reports/gateway-signals.js';
import { SessionReports } from '../reports/session-reports.js';
import {
  GatewayHeartbeatAnswerDto,
  GatewayHeartbeatRequestDto,
  GatewaySignalsDto,
  GatewaySignalsRequestDto,
  SessionReportResultsDto,
  ReportSessionsDto,
} from './dto/gateway.dto.js';
import { GatewayGuard, type GatewayRequest } from './gateway.guard.js';

/** Requests of gateways. Public for the guard of users and agents: gateways have their own. */
@ApiTags('Gateway')
@Controller('gateway')
@Public({ unlimited: true })
@UseGuards(GatewayGuard)
@ApiBearerAuth('gatewayToken')
@ApiErrors('unauthenticated', 'invalid_gateway_token', 'forbidden')
export class GatewayController {
  constructor(
    private readonly heartbeats: GatewayHeartbeats,
    private readonly reports: SessionReports,
    private readonly signalsOfRuns: GatewaySignals,
  ) {}

  @Post('heartbeat')
  @HttpCode(200)
  @ApiOkResponse({ type: GatewayHeartbeatAnswerDto })
  @ApiOperation({
    operationId: 'sendGatewayHeartbeat',
    summary: 'Send a heartbeat of a gateway with its sessions',
  })
  heartbeat(@Req() request: GatewayRequest, @Body() body: GatewayHeartbeatRequestDto) {
    return this.heartbeats.heartbeat(requireSelf(request, body));
  }

  @Post('sessions')
  @HttpCode(200)
  @ApiOkResponse({ type: SessionReportResultsDto })
  @ApiOperation({
    operationId: 'reportSessions',
    summary: 'Report sessions that started, exited or failed to start',
  })
  sessions(@Req() request: GatewayRequest, @Body() body: ReportSessionsDto) {
    const { gatewayId, reports } = requireSelf(request, body);
    return this.reports.take(gatewayId, reports);
  }

  @Post('signals')
  @HttpCode(200)
  @ApiOkResponse({ type: GatewaySignalsDto })
  @ApiOperation({
    operationId: 'getGatewaySignals',
    summary: 'Wait for sessions that must stop or pause',
  })
  signals(
    @Req() request: GatewayRequest,
    @Body() body: GatewaySignalsRequestDto,
    @ClientGone() gone: AbortSignal,
  ) {
    const { gatewayId, runIds, waitMs = 0 } = requireSelf(request, body);
    return this.signalsOfRuns.wait({ gatewayId, runIds }, waitMs, gone);
  }
}

/** A gateway cannot speak for another. */
function requireSelf<T extends { gatewayId: string }>({ gatewayId }: GatewayRequest, body: T): T {
  if (body.gatewayId === gatewayId) return body;
  throw new DroverError('forbidden', { detail: 'The token is another gateway’s.' });
}
