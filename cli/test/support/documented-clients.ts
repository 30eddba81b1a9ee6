import type { Language } from '../../../sdk/test/support/languages.js';

/**
 * Main programs for the code in sdk/docs/other-languages.md. Each sends the transaction in its environment with the
 * documented function, and prints the verdict, as `certify-client` asks. The deadline of all attempts is four times the
 * time-out of one.
 */
export const CLIENTS: Record<Language, string> = {
  python: `
import os
kind = next(each for each in ("BET", "WIN", "ROLLBACK") if os.environ.get("CROUPIER_" + each))
timeout = int(os.environ["CROUPIER_TIMEOUT_MS"]) / 1000
result, _ = send_transaction(
    os.environ["CROUPIER_BASE_URL"], {**json.loads(os.environ["CROUPIER_" + kind]), "kind": kind},
    os.environ["CROUPIER_TENANT"], os.environ["CROUPIER_SECRET"], timeout=timeout, deadline=4 * timeout)
print(result.lower())
`,
  php: `
foreach (['BET', 'WIN', 'ROLLBACK'] as $each) {
    if (getenv("CROUPIER_$each")) {
        $kind = $each;
    }
}
$timeout = getenv('CROUPIER_TIMEOUT_MS') / 1000;
$transaction = json_decode(getenv("CROUPIER_$kind"), true) + ['kind' => $kind];
[$result] = sendTransaction(getenv('CROUPIER_BASE_URL'), $transaction, getenv('CROUPIER_TENANT'),
    getenv('CROUPIER_SECRET'), false, $timeout, 4 * $timeout);
echo strtolower($result), "\\n";
`,
  java: `
import static java.nio.charset.StandardCharsets.UTF_8;
import java.net.URI;
import java.time.Duration;
import java.util.regex.*;
public class Main {
  static String text(String json, String name) {
    Matcher match = Pattern.compile("\\"" + name + "\\"\\\\s*:\\\\s*\\"([^\\"]*)\\"").matcher(json);
    return match.find() ? match.group(1) : null;
  }
  static String decisionIn(String body, String transactionId) {
    if (!transactionId.equals(text(body, "transactionId"))) return null;
    if (!Pattern.compile("\\"balance\\"\\\\s*:\\\\s*-?\\\\d+\\\\s*[,}]").matcher(body).find()) return null;
    String status = text(body, "status");
    return "APPROVED".equals(status) || "DECLINED".equals(status) ? status : null;
  }
  public static void main(String[] args) throws Exception {
    var env = System.getenv();
    for (String kind : new String[] {"BET", "WIN", "ROLLBACK"}) {
      String fields = env.get("CROUPIER_" + kind);
      if (fields == null) continue;
      Duration timeout = Duration.ofMillis(Long.parseLong(env.get("CROUPIER_TIMEOUT_MS")));
      byte[] body = ("{\\"kind\\":\\"" + kind + "\\"," + fields.substring(1)).getBytes(UTF_8);
      String id = text(fields, "transactionId");
      var sent = CroupierSignature.sendTransaction(URI.create(env.get("CROUPIER_BASE_URL")), body,
          answer -> decisionIn(answer, id), env.get("CROUPIER_TENANT"), env.get("CROUPIER_SECRET"), false, timeout,
          timeout.multipliedBy(4));
      System.out.println(sent.result().toLowerCase());
    }
    System.exit(0);
  }
}
`,
  go: `
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	for _, kind := range []string{"BET", "WIN", "ROLLBACK"} {
		fields := map[string]any{}
		if json.Unmarshal([]byte(os.Getenv("CROUPIER_"+kind)), &fields) != nil {
			continue
		}
		fields["kind"] = kind
		body, _ := json.Marshal(fields)
		milliseconds, _ := strconv.Atoi(os.Getenv("CROUPIER_TIMEOUT_MS"))
		timeout := time.Duration(milliseconds) * time.Millisecond
		result, _, err := SendTransaction(os.Getenv("CROUPIER_BASE_URL"), fields["transactionId"].(string), body,
			os.Getenv("CROUPIER_TENANT"), os.Getenv("CROUPIER_SECRET"), false, timeout, 4*timeout)
		if err != nil {
			panic(err)
		}
		fmt.Println(strings.ToLower(result))
	}
}
`,
  csharp: csharpClient('WebRequestPost.Post'),
};

/** A client whose requests are sent by a function with the parameters of the documented `CroupierHttp.Post`. */
export function csharpClient(post: string): string {
  return `
public static class Program
{
    static string Text(string json, string name)
    {
        Match match = Regex.Match(json, "\\"" + name + "\\"\\\\s*:\\\\s*\\"([^\\"]*)\\"");
        return match.Success ? match.Groups[1].Value : null;
    }

    static string DecisionIn(string body, string transactionId)
    {
        if (Text(body, "transactionId") != transactionId) return null;
        if (!Regex.IsMatch(body, "\\"balance\\"\\\\s*:\\\\s*-?\\\\d+\\\\s*[,}]")) return null;
        string status = Text(body, "status");
        return status == "APPROVED" || status == "DECLINED" ? status : null;
    }

    public static void Main()
    {
        foreach (string kind in new[] { "BET", "WIN", "ROLLBACK" })
        {
            string fields = Environment.GetEnvironmentVariable("CROUPIER_" + kind);
            if (string.IsNullOrEmpty(fields)) continue;
            string id = Text(fields, "transactionId");
            byte[] body = Encoding.UTF8.GetBytes("{\\"kind\\":\\"" + kind + "\\"," + fields.Substring(1));
            var url = new Uri(Environment.GetEnvironmentVariable("CROUPIER_BASE_URL") + "/v1/wallet/transaction");
            TimeSpan timeout = TimeSpan.FromMilliseconds(int.Parse(Environment.GetEnvironmentVariable("CROUPIER_TIMEOUT_MS")));
            var sent = CroupierSignature.SendTransaction(url.AbsolutePath, body,
                (headers, bytes, time) => ${post}(url, headers, bytes, time), answer => DecisionIn(answer, id),
                Environment.GetEnvironmentVariable("CROUPIER_TENANT"), Environment.GetEnvironmentVariable("CROUPIER_SECRET"),
                false, timeout, TimeSpan.FromTicks(4 * timeout.Ticks));
            Console.WriteLine(sent.Result.ToLowerInvariant());
        }
    }
}
`;
}

/** Sends with the oldest client of .NET, which Mono has without any other package. */
export const WEB_REQUEST_POST = `
public static class WebRequestPost
{
    public static CroupierSignature.Answer Post(Uri url, Dictionary<string, string> headers, byte[] body, TimeSpan timeout)
    {
        var request = System.Net.WebRequest.CreateHttp(url);
        request.Method = "POST";
        request.ContentType = "application/json";
        request.AllowAutoRedirect = false;
        request.KeepAlive = false;
        request.Timeout = request.ReadWriteTimeout = Math.Max(50, (int)timeout.TotalMilliseconds);
        request.ServicePoint.Expect100Continue = false;
        foreach (var header in headers) request.Headers.Add(header.Key, header.Value);
        try
        {
            using (var stream = request.GetRequestStream()) stream.Write(body, 0, body.Length);
            using (var response = (System.Net.HttpWebResponse)request.GetResponse()) return Read(response);
        }
        catch (System.Net.WebException error)
        {
            return error.Response == null ? null : Read((System.Net.HttpWebResponse)error.Response);
        }
        catch (System.IO.IOException)
        {
            return null;
        }
    }

    static CroupierSignature.Answer Read(System.Net.HttpWebResponse response)
    {
        using (var reader = new System.IO.StreamReader(response.GetResponseStream()))
            return new CroupierSignature.Answer
            {
                Status = (int)response.StatusCode,
                ErrorCode = response.Headers["X-Error-Code"],
                NextAction = response.Headers["X-Next-Action"],
                RetryAfter = response.Headers["Retry-After"],
                Body = reader.ReadToEnd(),
            };
    }
}
`;
