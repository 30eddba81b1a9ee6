/**
 * The usual stack: the wallet endpoints as a good NestJS tutorial writes them, with express, class-validator, TypeORM's
 * repositories, axios and the throttler, each used as its documentation shows. Nothing is slowed down.
 *
 * Left out, which makes it cheaper: ROLLBACK (a 400) and DEMO, leases and the taking over of what a crash left PENDING,
 * `roundClosed`, `freeSpinsRef`, `declineReason`, tenants in the database, the request log, metrics, `X-Request-Id` and
 * `X-Error-Code` in answers. Two identical requests at the same moment can both call the operator, and answer
 * differently: `save` reads first and writes afterwards.
 */
import { HttpModule, HttpService } from '@nestjs/axios';
import {
  type ArgumentsHost,
  BadRequestException,
  Body,
  type CanActivate,
  Catch,
  ConflictException,
  Controller,
  createParamDecorator,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Header,
  HttpCode,
  HttpException,
  Injectable,
  InternalServerErrorException,
  Module,
  Post,
  type RawBodyRequest,
  Res,
  UnauthorizedException,
  ValidationPipe,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsIn, IsInt, IsNotEmpty, IsString, Matches, Max, Min } from 'class-validator';
import type { Request, Response } from 'express';
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { Agent } from 'node:http';
import { firstValueFrom } from 'rxjs';
import {
  Column,
  CreateDateColumn,
  Entity,
  Index,
  PrimaryColumn,
  QueryFailedError,
  Repository,
  UpdateDateColumn,
} from 'typeorm';
import { OPERATOR_ID, OPERATOR_SECRET, PROVIDER_ID, PROVIDER_SECRET } from './world.js';

const PORT = Number(process.env['PORT'] ?? 3000);
const DATABASE_URL = process.env['DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const OPERATOR_URL = process.env['OPERATOR_URL'] ?? 'http://127.0.0.1:4000';
const RATE_LIMIT = Number(process.env['RATE_LIMIT'] ?? 1_000_000);

const TOLERANCE_SECONDS = 300;
const OPERATOR_TIMEOUT_MS = 5_000;
/** The pool size of the service. With the default of 10, the benchmark would compare pool sizes. */
const POOL_SIZE = 20;

/** In memory, although a tutorial would read a table for each request. */
const TENANT_SECRETS = new Map([[PROVIDER_ID, PROVIDER_SECRET]]);

// ---- Entities

@Entity('sessions')
export class Session {
  @PrimaryColumn('uuid') id: string;
  @Index({ unique: true }) @Column() tokenHash: string;
  @Column() providerId: string;
  @Column() operatorId: string;
  @Column() playerRef: string;
  @Column() gameId: string;
  @Column() currency: string;
  @Column() mode: 'REAL' | 'DEMO';
  @Column('timestamptz') expiresAt: Date;
}

@Entity('transactions')
@Index(['providerId', 'roundId', 'playerRef'])
export class Transaction {
  @PrimaryColumn() providerId: string;
  @PrimaryColumn() transactionId: string;
  @Column('uuid') platformTransactionId: string;
  @Column() operatorId: string;
  @Column() kind: 'BET' | 'WIN';
  @Column() playerRef: string;
  @Column() gameId: string;
  @Column() currency: string;
  @Column('bigint', { transformer: { to: (value: number) => value, from: Number } }) amountMinor: number;
  @Column() roundId: string;
  @Column() fingerprint: string;
  @Column() state: 'PENDING' | 'APPROVED' | 'DECLINED' | 'TIMED_OUT';
  @Column('text', { nullable: true }) responseBody: string | null;
  @CreateDateColumn({ type: 'timestamptz' }) createdAt: Date;
  @UpdateDateColumn({ type: 'timestamptz' }) updatedAt: Date;
}

// ---- Requests

const IDENTIFIER = /^(?!\.{1,2}$)[\x21-\x7e]{1,128}$/;

export class SessionTokenDto {
  @IsString() @IsNotEmpty() sessionToken: string;
}

export class TransactionDto extends SessionTokenDto {
  @Matches(/^(?!croupier-)/) @Matches(IDENTIFIER) transactionId: string;
  @IsIn(['BET', 'WIN']) kind: 'BET' | 'WIN';
  @Matches(IDENTIFIER) playerRef: string;
  @Matches(IDENTIFIER) gameId: string;
  @Matches(/^[A-Z]{3}$/) currency: string;
  @IsInt() @Min(0) @Max(Number.MAX_SAFE_INTEGER) amountMinor: number;
  @Matches(IDENTIFIER) roundId: string;
}

// ---- Authentication

type SignedRequest = RawBodyRequest<Request> & { tenantId?: string };

/** The id of the tenant whose signature the guard has verified. */
const TenantId = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<SignedRequest>().tenantId ?? '',
);

class InvalidSignatureException extends UnauthorizedException {}

@Injectable()
export class SignatureGuard implements CanActivate {
  /** Each nonce of a tenant and when it may be forgotten, in Unix seconds. */
  private readonly nonces = new Map<string, number>();

  constructor() {
    setInterval(() => this.forgetNonces(), 60_000).unref();
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<SignedRequest>();
    const tenantId = request.get('X-Tenant-ID') ?? '';
    const timestamp = request.get('X-Timestamp') ?? '';
    const nonce = request.get('X-Nonce') ?? '';
    const signature = request.get('X-Signature') ?? '';
    const secret = TENANT_SECRETS.get(tenantId);
    const now = Math.floor(Date.now() / 1000);

    if (secret === undefined) throw new InvalidSignatureException();
    if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
      throw new InvalidSignatureException();
    }
    if (!/^[A-Za-z0-9\-_.:]{8,128}$/.test(nonce)) throw new InvalidSignatureException();
    if (!/^[0-9a-f]{64}$/.test(signature)) throw new InvalidSignatureException();

    const head = `${request.method}\n${request.originalUrl}\n${timestamp}\n${nonce}\n`;
    const expected = sign(secret, head, request.rawBody ?? Buffer.alloc(0));
    if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature)))
      throw new InvalidSignatureException();

    const key = `${tenantId}:${nonce}`;
    if (this.nonces.has(key)) throw new InvalidSignatureException();
    this.nonces.set(key, now + 2 * TOLERANCE_SECONDS);
    request.tenantId = tenantId;
    return true;
  }

  private forgetNonces(): void {
    const now = Math.floor(Date.now() / 1000);
    for (const [key, expiry] of this.nonces) {
      // The map keeps the order of insertion: later entries are newer.
      if (expiry >= now) return;
      this.nonces.delete(key);
    }
  }
}

function sign(secret: string, head: string, body: Buffer): string {
  return createHmac('sha256', secret).update(head).update(body).digest('hex');
}

// ---- The operator's wallet

interface Booking {
  status: 'APPROVED' | 'DECLINED';
  balance: number;
}

@Injectable()
export class OperatorClient {
  constructor(private readonly http: HttpService) {}

  async book(transaction: Transaction): Promise<Booking> {
    const { transactionId, providerId, kind, playerRef, gameId, currency, amountMinor, roundId } =
      transaction;
    const order = { transactionId, providerId, kind, playerRef, gameId, currency, amountMinor, roundId };
    const { status, balance } = await this.post<Booking>('/transaction', order);
    if (!['APPROVED', 'DECLINED'].includes(status) || !Number.isSafeInteger(balance)) {
      throw new Error("The operator's answer lacks a status or an integer balance");
    }
    return { status, balance };
  }

  async balance(playerRef: string, currency: string): Promise<number> {
    const { balance } = await this.post<{ balance: number }>('/balance', { playerRef, currency });
    if (!Number.isSafeInteger(balance)) throw new Error("The operator's answer lacks an integer balance");
    return balance;
  }

  private async post<T>(route: string, body: object): Promise<T> {
    const url = OPERATOR_URL + route;
    // As bytes, because axios would serialise an object itself, after it was signed.
    const bytes = Buffer.from(JSON.stringify(body));
    const timestamp = String(Math.floor(Date.now() / 1000));
    const nonce = randomUUID();
    const head = `POST\n${new URL(url).pathname}\n${timestamp}\n${nonce}\n`;
    const headers = {
      'Content-Type': 'application/json',
      'X-Tenant-ID': OPERATOR_ID,
      'X-Timestamp': timestamp,
      'X-Nonce': nonce,
      'X-Signature': sign(OPERATOR_SECRET, head, bytes),
      'X-Request-Id': randomUUID(),
    };
    const { data } = await firstValueFrom(this.http.post<T>(url, bytes, { headers }));
    return data;
  }
}

// ---- The wallet service

@Injectable()
export class SessionsService {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  async open(providerId: string, sessionToken: string): Promise<Session> {
    const session = await this.sessions.findOne({ where: { tokenHash: sha256(sessionToken) } });
    if (!session || session.expiresAt <= new Date()) {
      throw new UnauthorizedException('session is unknown or expired');
    }
    if (session.providerId !== providerId) throw new ForbiddenException('session of another provider');
    return session;
  }
}

interface Answer {
  body: string;
  replayed: boolean;
}

@Injectable()
export class WalletService {
  constructor(
    @InjectRepository(Transaction) private readonly transactions: Repository<Transaction>,
    private readonly sessions: SessionsService,
    private readonly operator: OperatorClient,
  ) {}

  async submit(providerId: string, dto: TransactionDto): Promise<Answer> {
    const session = await this.sessions.open(providerId, dto.sessionToken);
    const { operatorId, playerRef, gameId, currency, mode } = session;
    if (dto.playerRef !== playerRef || dto.gameId !== gameId || dto.currency !== currency) {
      throw new BadRequestException('playerRef, gameId or currency differs from the session');
    }

    const { transactionId, kind, amountMinor, roundId } = dto;
    const facts = [kind, amountMinor, currency, playerRef, gameId, roundId, operatorId, mode];
    const fingerprint = sha256(facts.join('\n'));
    const stored = await this.transactions.findOne({ where: { providerId, transactionId } });
    if (stored && stored.fingerprint !== fingerprint) {
      throw new BadRequestException('transactionId was used with another body');
    }
    if (stored?.responseBody) return { body: stored.responseBody, replayed: true };
    if (stored?.state === 'PENDING') throw new ConflictException('transaction is in flight');
    if (kind === 'WIN') await this.checkRound(providerId, operatorId, dto);

    const transaction =
      stored ??
      this.transactions.create({
        providerId,
        transactionId,
        operatorId,
        kind,
        playerRef,
        gameId,
        currency,
        amountMinor,
        roundId,
        fingerprint,
        platformTransactionId: randomUUID(),
        responseBody: null,
      });
    transaction.state = 'PENDING';
    await this.claim(transaction);
    return { body: await this.settle(transaction), replayed: false };
  }

  async balance(providerId: string, sessionToken: string): Promise<number> {
    const { playerRef, currency } = await this.sessions.open(providerId, sessionToken);
    try {
      return await this.operator.balance(playerRef, currency);
    } catch {
      throw new InternalServerErrorException('the operator cannot be reached, try again');
    }
  }

  /** A WIN waits for its round's BET to be decided; one without a BET is booked. */
  private async checkRound(providerId: string, operatorId: string, dto: TransactionDto): Promise<void> {
    const { roundId, playerRef, gameId } = dto;
    const round = { providerId, roundId, playerRef, operatorId, gameId };
    const bets = await this.transactions.find({ where: { ...round, kind: 'BET' } });
    const standing = bets.filter((bet) => bet.state !== 'DECLINED');
    if (standing.length > 0 && !standing.some((bet) => bet.state === 'APPROVED')) {
      throw new ConflictException('the BET of this round is undecided');
    }
  }

  /** Commits the claim before the operator is called. */
  private async claim(transaction: Transaction): Promise<void> {
    try {
      await this.transactions.save(transaction);
    } catch (error) {
      const taken = error instanceof QueryFailedError && (error.driverError as PgError).code === '23505';
      throw taken ? new ConflictException('transaction is in flight') : error;
    }
  }

  private async settle(transaction: Transaction): Promise<string> {
    const { transactionId, platformTransactionId, currency } = transaction;
    let booking: Booking;
    try {
      booking = await this.operator.book(transaction);
    } catch {
      // The operator may have booked it: the same request, sent again, calls the operator again.
      transaction.state = 'TIMED_OUT';
      await this.transactions.save(transaction);
      throw new InternalServerErrorException('the operator cannot be reached, send the same request again');
    }
    const { status, balance } = booking;
    const body = JSON.stringify({ transactionId, platformTransactionId, status, balance, currency });
    transaction.state = status;
    transaction.responseBody = body;
    await this.transactions.save(transaction);
    return body;
  }
}

type PgError = Error & { code?: string };

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

// ---- The routes

@Controller('v1/wallet')
export class WalletController {
  constructor(
    private readonly wallet: WalletService,
    private readonly sessions: SessionsService,
  ) {}

  @Post('transaction')
  @HttpCode(200)
  @Header('Content-Type', 'application/json; charset=utf-8')
  async transaction(
    @TenantId() providerId: string,
    @Body() dto: TransactionDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const { body, replayed } = await this.wallet.submit(providerId, dto);
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    return body;
  }

  @Post('balance')
  @HttpCode(200)
  async balance(@TenantId() providerId: string, @Body() dto: SessionTokenDto): Promise<{ balance: number }> {
    return { balance: await this.wallet.balance(providerId, dto.sessionToken) };
  }

  @Post('session/verify')
  @HttpCode(200)
  async verify(@TenantId() providerId: string, @Body() dto: SessionTokenDto): Promise<object> {
    const session = await this.sessions.open(providerId, dto.sessionToken);
    const { id: sessionId, playerRef, gameId, currency, operatorId, mode, expiresAt } = session;
    return { sessionId, playerRef, gameId, currency, operatorId, mode, expiresAt };
  }
}

/** Answers `{"error": …}`, except for a wrong signature, whose answer is plain text. */
@Catch(HttpException)
export class ErrorFilter implements ExceptionFilter<HttpException> {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>().status(exception.getStatus());
    if (exception instanceof InvalidSignatureException) {
      response.type('text/plain').send('invalid signature');
      return;
    }
    const said = exception.getResponse() as string | { message: string | string[] };
    response.json({ error: typeof said === 'string' ? said : [said.message].flat().join(', ') });
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: DATABASE_URL,
      entities: [Session, Transaction],
      synchronize: true,
      poolSize: POOL_SIZE,
    }),
    TypeOrmModule.forFeature([Session, Transaction]),
    HttpModule.register({
      httpAgent: new Agent({ keepAlive: true }),
      timeout: OPERATOR_TIMEOUT_MS,
      maxRedirects: 0,
      validateStatus: (status) => status === 200,
    }),
    ThrottlerModule.forRoot({
      throttlers: [{ ttl: 1_000, limit: RATE_LIMIT }],
      getTracker: (request) => (request as SignedRequest).tenantId ?? '',
      // One budget for all routes of a tenant.
      generateKey: (_context, tenantId) => tenantId,
      errorMessage: 'rate limit exceeded',
    }),
  ],
  controllers: [WalletController],
  providers: [
    SessionsService,
    WalletService,
    OperatorClient,
    { provide: APP_GUARD, useClass: SignatureGuard },
    { provide: APP_GUARD, useClass: ThrottlerGuard },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class AppModule {}

const app = await NestFactory.create(AppModule, { rawBody: true, logger: ['error', 'warn'] });
app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
app.enableShutdownHooks();
await app.listen(PORT, '127.0.0.1');
process.stdout.write('listening\n');
