import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import {
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, DroverError, ONE_HOST } from '#lib/kernel';
import { HostCredentials } from '../credentials/host-credentials.js';
import {
  HostCredentialDto,
  HostCredentialQuery,
  HostCredentialsDto,
  SetHostCredentialDto,
} from './host-credentials.dto.js';

const HOST = {
  name: 'host',
  description: 'A name or an IPv4 address, with its port unless it is the usual one',
  example: 'registry.example.com',
};
const MAX_HOST = 261;

@ApiTags('Host credentials')
@Controller('host-credentials')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class HostCredentialsController {
  constructor(private readonly credentials: HostCredentials) {}

  @Get()
  @ApiOperation({ summary: 'List the credentials for hosts, without their values' })
  @ApiOkResponse({ type: HostCredentialsDto })
  async list(@CurrentCaller() caller: Caller) {
    return { items: await this.credentials.list(caller) };
  }

  @Put(':host')
  @ApiOperation({
    operationId: 'setHostCredential',
    summary: 'Set the header that sessions of the workspace or of one project send to a host',
    description: 'The proxy of a session adds it. The session itself never has it.',
  })
  @ApiParam(HOST)
  @ApiOkResponse({ type: HostCredentialDto })
  @ApiErrors('validation_failed', 'project_not_found', 'host_credential_limit')
  set(
    @CurrentCaller() caller: Caller,
    @Param('host') host: string,
    @Query() { projectId }: HostCredentialQuery,
    @Body() body: SetHostCredentialDto,
  ) {
    return this.credentials.set(caller, { host: toOneHost(host), projectId }, body);
  }

  @Delete(':host')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removeHostCredential',
    summary: 'Remove the credential for a host',
  })
  @ApiParam(HOST)
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'host_credential_not_found')
  remove(
    @CurrentCaller() caller: Caller,
    @Param('host') host: string,
    @Query() { projectId }: HostCredentialQuery,
  ) {
    return this.credentials.remove(caller, { host: toOneHost(host), projectId });
  }
}

/** @throws DroverError `validation_failed` */
function toOneHost(text: string): string {
  const host = text.toLowerCase();
  if (host.length <= MAX_HOST && ONE_HOST.test(host)) return host;
  const message = 'must be a name or an IPv4 address, as in example.com or example.com:8443';
  throw new DroverError('validation_failed', { errors: [{ field: 'host', message }] });
}
