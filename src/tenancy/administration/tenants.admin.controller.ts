import {
  Controller,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  type StreamableFile,
  type Type,
} from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { answerOf, answersOf } from '../../api/answer.js';
import { AcceptedFormat, answerList, ApiList, type Columns, type ListFormat } from '../../api/lists/list.js';
import { ListQuery, type PageOf } from '../../api/lists/page.js';
import { JsonBody } from '../../api/validation/json-body.js';
import { ValidQuery } from '../../api/validation/query.js';
import { type PauseRoutes, pauseRoutes } from '../pauses/pause.routes.js';
import { PausesService } from '../pauses/pauses.service.js';
import { nounOf, type TenantKind } from '../tenant.js';
import { TenantAdministration } from './tenant-administration.js';
import {
  ChangeOperatorRequest,
  ChangeProviderRequest,
  CreateOperatorRequest,
  CreateProviderRequest,
  OVERLAP_SECONDS,
  RotateSecretRequest,
} from './tenant.request.js';
import {
  CreatedOperatorResponse,
  CreatedProviderResponse,
  OPERATOR_COLUMNS,
  OperatorListResponse,
  OperatorResponse,
  PROVIDER_COLUMNS,
  ProviderListResponse,
  ProviderResponse,
  RotatedSecret,
} from './tenant.response.js';

/** What distinguishes the routes of providers from those of operators. */
interface TenantRoutes<Create extends object, Change extends object, Answer extends object> extends Omit<
  PauseRoutes<Answer>,
  'parameter' | 'Id'
> {
  readonly kind: TenantKind;
  readonly createRequest: Type<Create>;
  readonly create: (tenants: TenantAdministration, actor: Actor, request: Create) => Promise<object>;
  readonly created: Type<object>;
  readonly changeRequest: Type<Change>;
  readonly change: (
    tenants: TenantAdministration,
    actor: Actor,
    id: string,
    request: Change,
  ) => Promise<object>;
  readonly changeExample: object;
  readonly answers: Type<{ items: Answer[] }>;
  readonly columns: Columns<Answer>;
}

/** Creates the controller of the routes for providers or for operators. Contract, section 7. */
function tenantsController<Create extends object, Change extends object, Answer extends object>(
  routes: TenantRoutes<Create, Change, Answer>,
): Type<object> {
  const { kind, name, phrase, answer } = routes;
  const noun = nounOf(kind);
  const target = `${noun}:{id}`;

  @ApiTags(`${name}s`)
  @Controller(`v1/admin/${noun}s`)
  class TenantsAdminController extends pauseRoutes({ ...routes, parameter: 'id', Id: () => Param('id') }) {
    constructor(
      private readonly tenants: TenantAdministration,
      readonly pauses: PausesService,
    ) {
      super();
    }

    @Post()
    @AdminRoute(`create${name}`, {
      role: 'admin',
      summary: `Create ${phrase}`,
      description: 'Only this answer contains the secret.',
      body: routes.createRequest,
      audited: [`${noun}.create`, target],
      errors: ['CONFLICT'],
    })
    @ApiCreatedResponse({ type: routes.created })
    create(@ActorOfRequest() actor: Actor, @JsonBody(routes.createRequest) request: Create): Promise<object> {
      return routes.create(this.tenants, actor, request);
    }

    @Get()
    @AdminRoute(`list${name}s`, {
      role: 'auditor',
      summary: `List the ${noun}s, ordered by id`,
      errors: ['INVALID_REQUEST'],
    })
    @ApiList(routes.answers, ListQuery, routes.columns)
    list(
      @ValidQuery() query: ListQuery,
      @AcceptedFormat() format: ListFormat,
    ): Promise<PageOf<Answer> | StreamableFile> {
      const read = async (page: ListQuery) => answersOf(answer, await this.tenants.list(kind, page));
      return answerList(format, { query, name: `${noun}s`, columns: routes.columns, read });
    }

    @Get(':id')
    @AdminRoute(`get${name}`, { role: 'auditor', summary: `Read ${phrase}`, errors: ['NOT_FOUND'] })
    @ApiOkResponse({ type: answer })
    async find(@Param('id') id: string): Promise<Answer> {
      return answerOf(answer, await this.tenants.find(kind, id));
    }

    @Patch(':id')
    @AdminRoute(`change${name}`, {
      role: 'admin',
      summary: `Change ${phrase}`,
      description:
        'An absent field is unchanged; null resets a field that may be null to its default. Takes effect on every ' +
        'instance within a second.',
      audited: [`${noun}.change`, target],
      errors: ['NOT_FOUND'],
    })
    @ApiBody({ type: routes.changeRequest, examples: { rename: { value: routes.changeExample } } })
    @ApiOkResponse({ type: answer })
    async change(
      @ActorOfRequest() actor: Actor,
      @Param('id') id: string,
      @JsonBody(routes.changeRequest) request: Change,
    ): Promise<Answer> {
      return answerOf(answer, await routes.change(this.tenants, actor, id, request));
    }

    @Post(':id/secret/rotate')
    @HttpCode(200)
    @AdminRoute(`rotate${name}Secret`, {
      role: 'admin',
      summary: `Give ${phrase} a new secret`,
      description:
        'A second rotation within the overlap drops the oldest secret. So if the answer was lost, do not simply repeat ' +
        'the request: rotate with `overlapSeconds` 0, and hand the new secret over at once. The same applies if the ' +
        `answer to the creation of ${phrase} was lost.`,
      audited: [`${noun}.rotate-secret`, target],
      errors: ['NOT_FOUND'],
    })
    @ApiBody({ type: RotateSecretRequest, required: false })
    @ApiOkResponse({ type: RotatedSecret })
    rotateSecret(
      @ActorOfRequest() actor: Actor,
      @Param('id') id: string,
      @JsonBody() { overlapSeconds }: RotateSecretRequest,
    ): Promise<RotatedSecret> {
      return this.tenants.rotateSecret(actor, kind, id, overlapSeconds ?? OVERLAP_SECONDS);
    }
  }
  return TenantsAdminController;
}

export const ProvidersAdminController = tenantsController({
  kind: 'PROVIDER',
  name: 'Provider',
  phrase: 'a provider',
  createRequest: CreateProviderRequest,
  create: (tenants, actor, request) => tenants.createProvider(actor, request),
  created: CreatedProviderResponse,
  changeRequest: ChangeProviderRequest,
  change: (tenants, actor, id, request) => tenants.changeProvider(actor, id, request),
  changeExample: { name: 'Acme Games' },
  answer: ProviderResponse,
  answers: ProviderListResponse,
  columns: PROVIDER_COLUMNS,
  pauseEffect: 'Launches of its games and BETs in them are 503 `GAME_NOT_CONFIGURED`.',
});

export const OperatorsAdminController = tenantsController({
  kind: 'OPERATOR',
  name: 'Operator',
  phrase: 'an operator',
  createRequest: CreateOperatorRequest,
  create: (tenants, actor, request) => tenants.createOperator(actor, request),
  created: CreatedOperatorResponse,
  changeRequest: ChangeOperatorRequest,
  change: (tenants, actor, id, request) => tenants.changeOperator(actor, id, request),
  changeExample: { name: 'Example Casino' },
  answer: OperatorResponse,
  answers: OperatorListResponse,
  columns: OPERATOR_COLUMNS,
  pauseEffect: "Its launches and its players' BETs are 503 `OPERATOR_NOT_CONFIGURED`.",
});
