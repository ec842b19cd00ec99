import { Suspense, type ComponentType } from "react";
import { Redirect, Route, Switch, useLocation, useSearch } from "wouter";
import { later } from "./lib/lazy";
import { LiveProvider } from "./lib/live";
import { SessionProvider, useMe } from "./lib/session";
import { NotFound } from "./pages/NotFound";
import { Boundary, Loading } from "./ui/page";
import { Shell } from "./ui/Shell";

const SignIn = later(() => import("./pages/entry/SignIn"), "SignIn");
const SetUp = later(() => import("./pages/entry/SetUp"), "SetUp");
const UseLink = later(() => import("./pages/entry/UseLink"), "UseLink");
const SignUp = later(() => import("./pages/entry/SignUp"), "SignUp");
const NewOrg = later(() => import("./pages/entry/SignUp"), "NewOrg");
const AcceptInvite = later(() => import("./pages/entry/AcceptInvite"), "AcceptInvite");
const Device = later(() => import("./pages/entry/Device"), "Device");
const Now = later(() => import("./pages/now/Now"), "Now");
const Intents = later(() => import("./pages/intents/Intents"), "Intents");
const IntentDetail = later(() => import("./pages/intents/IntentDetail"), "IntentDetail");
const Conflicts = later(() => import("./pages/conflicts/Conflicts"), "Conflicts");
const ConflictDetail = later(() => import("./pages/conflicts/ConflictDetail"), "ConflictDetail");
const Messages = later(() => import("./pages/messages/Messages"), "Messages");
const History = later(() => import("./pages/History"), "History");
const Activity = later(() => import("./pages/Activity"), "Activity");
const Value = later(() => import("./pages/value/Value"), "Value");
const Play = later(() => import("./pages/play/Play"), "Play");
const Stats = later(() => import("./pages/stats/Stats"), "Stats");
const Repos = later(() => import("./pages/repos/Repos"), "Repos");
const RepoDetail = later(() => import("./pages/repos/RepoDetail"), "RepoDetail");
const ProjectDetail = later(() => import("./pages/repos/ProjectDetail"), "ProjectDetail");
const ContractDetail = later(() => import("./pages/repos/ContractDetail"), "ContractDetail");
const AgentPage = later(() => import("./pages/agents/AgentPage"), "AgentPage");
const PersonPage = later(() => import("./pages/agents/PersonPage"), "PersonPage");
const FilePage = later(() => import("./pages/file/FilePage"), "FilePage");
const Settings = later(() => import("./pages/settings/Settings"), "Settings");

// Addresses that the server gives for records without a page of their own.
const elsewhere = { "/sessions": "/", "/members": "/settings/members", "/settings/integrations": "/settings/webhooks" };

// From one record to the next its page begins anew: until the answer comes, it would show the one before, and act on it.
const own = (Shown: ComponentType) => (at: object) => <Shown key={Object.values(at).join("/")} />;

export function App() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/sign-in" component={SignIn} />
        <Route path="/setup" component={SetUp} />
        <Route path="/invite" component={AcceptInvite} />
        <Route path="/link" component={UseLink} />
        <Route path="/sign-up" component={SignUp} />
        <Route path="/new-org" component={NewOrg} />
        <Route>
          <SessionProvider>
            <SignedIn />
          </SessionProvider>
        </Route>
      </Switch>
    </Suspense>
  );
}

function SignedIn() {
  const { org } = useMe();
  const [path] = useLocation();
  const search = useSearch();
  if (path === "/device") return <Device />;
  return (
    <LiveProvider org={org.slug}>
      <Shell>
        <Boundary name={path}>
          <Suspense fallback={<Loading />}>
            <Switch>
              <Route path="/" component={Now} />
              <Route path="/intents" component={Intents} />
              <Route path="/intents/:ref">{own(IntentDetail)}</Route>
              <Route path="/conflicts" component={Conflicts} />
              <Route path="/conflicts/:ref">{own(ConflictDetail)}</Route>
              <Route path="/messages/:id?" component={Messages} />
              <Route path="/history" component={History} />
              <Route path="/activity" component={Activity} />
              <Route path="/value" component={Value} />
              <Route path="/stats" component={Stats} />
              <Route path="/play" component={Play} />
              <Route path="/agents/:id">{own(AgentPage)}</Route>
              <Route path="/people/:id">{own(PersonPage)}</Route>
              <Route path="/repos" component={Repos} />
              <Route path="/repos/:owner/:name">{own(RepoDetail)}</Route>
              <Route path="/projects/:id">{own(ProjectDetail)}</Route>
              <Route path="/contracts">{() => <ContractDetail key={search} />}</Route>
              <Route path="/file">{() => <FilePage key={search} />}</Route>
              {Object.entries(elsewhere).map(([from, to]) => (
                <Route key={from} path={from}>
                  <Redirect to={to} replace />
                </Route>
              ))}
              <Route path="/settings">
                <Redirect to="/settings/profile" replace />
              </Route>
              <Route path="/settings/:tab" component={Settings} />
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Boundary>
      </Shell>
    </LiveProvider>
  );
}
