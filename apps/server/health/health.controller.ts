import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Public } from '#lib/identity';
import { Health } from '#lib/observability';
import { LivenessDto, ReadinessDto, SystemHealthDto } from './health.dto.js';

@ApiTags('Health')
@Public()
@Controller()
export class HealthController {
  constructor(private readonly health: Health) {}

  @Get('healthz')
  @Public({ unlimited: true })
  @ApiOperation({ operationId: 'getLiveness', summary: 'Check whether the process is alive' })
  @ApiOkResponse({ type: LivenessDto })
  alive() {
    return { status: 'alive' };
  }

  // Concurrent requests share one query.
  @Get('readyz')
  @Public({ unlimited: true })
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Check whether the server can serve requests',
  })
  @ApiOkResponse({ type: ReadinessDto })
  @ApiErrors('database_unavailable', 'shutting_down')
  ready() {
    return this.health.readiness();
  }

  @Get('health/coordinator')
  @ApiOperation({
    operationId: 'getSystemHealth',
    summary: 'Get the health of the coordinator and of its dependencies',
  })
  @ApiOkResponse({ type: SystemHealthDto })
  coordinator() {
    return this.health.system();
  }
}
