-- Others' work in Neovim: starts svc lsp and shows what it says as signs and
-- virtual text. Works with Neovim 0.7 and later.
local M = {}

local space = vim.api.nvim_create_namespace('svc')
local live = {} -- what svc lsp last said of each buffer's file, by uri
local client_id

local function root_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' or vim.bo[buf].buftype ~= '' then
    return nil
  end
  local dir = vim.fn.fnamemodify(name, ':p:h')
  local found = vim.fn.finddir('.git', dir .. ';')
  if found == '' then
    found = vim.fn.findfile('.git', dir .. ';') -- a worktree
  end
  return found ~= '' and dir or nil
end

-- colour gives each person one of six groups, the same everywhere.
local function colour(person)
  local sum = 0
  for i = 1, #person do
    sum = (sum * 31 + person:byte(i)) % 6
  end
  return 'SvcPerson' .. (sum + 1)
end

local function draw(buf, agents)
  vim.api.nvim_buf_clear_namespace(buf, space, 0, -1)
  local last = vim.api.nvim_buf_line_count(buf)
  for _, a in ipairs(agents) do
    local group = a.meets and 'SvcMeets' or colour(a.person)
    for _, l in ipairs(a.lines) do
      for n = l.start, math.max(l.start, l.start + l.count - 1) do
        local row = math.min(n, last) - 1
        local mark = { sign_text = l.count == 0 and '+' or '~', sign_hl_group = group, priority = 5 }
        if n == l.start then
          mark.virt_text = { { ('%s · %s · %s'):format(a.person, a.work ~= '' and a.work or a.agent, a.age), group } }
        end
        vim.api.nvim_buf_set_extmark(buf, space, row, 0, mark)
      end
    end
  end
end

local function on_live(_, result)
  live[result.uri] = result
  local buf = vim.uri_to_bufnr(result.uri)
  if vim.api.nvim_buf_is_loaded(buf) then
    draw(buf, result.agents)
  end
end

local function on_attention(_, result)
  for _, item in ipairs(result.items) do
    vim.notify('svc: ' .. item.title, vim.log.levels.INFO)
  end
end

local function run(command, arguments)
  vim.lsp.buf_request(0, 'workspace/executeCommand', { command = command, arguments = arguments }, function(err, said)
    vim.notify('svc: ' .. (err and err.message or tostring(said)), err and vim.log.levels.ERROR or vim.log.levels.INFO)
  end)
end

-- asking runs a command with words that the person types.
local function asking(prompt)
  return function(command)
    vim.ui.input({ prompt = prompt }, function(words)
      if words and words ~= '' then
        run(command.command, { command.arguments[1], command.arguments[2], words })
      end
    end)
  end
end

-- who lists who is at work in the file.
function M.who()
  local here = live[vim.uri_from_bufnr(0)]
  local said = {}
  for _, a in ipairs(here and here.agents or {}) do
    table.insert(said, a.says)
  end
  print(#said > 0 and table.concat(said, '\n') or 'Nobody else is at work in this file.')
end

function M.attach(buf)
  local root = root_of(buf)
  if not root then
    return
  end
  if not client_id then
    client_id = vim.lsp.start_client(M.config)
  end
  if client_id then
    vim.lsp.buf_attach_client(buf, client_id)
  end
end

-- setup starts svc lsp for files in git repositories. opts: cmd, and settings as
-- docs/editors.md lists them.
function M.setup(opts)
  opts = opts or {}
  for i, name in ipairs({ 'Cyan', 'Magenta', 'Yellow', 'Green', 'Blue', 'Red' }) do
    vim.cmd(('highlight default SvcPerson%d ctermfg=%s guifg=%s'):format(i, name, name))
  end
  vim.cmd('highlight default link SvcMeets WarningMsg')
  local quiet = function() end -- signs and virtual text are ours
  M.config = {
    name = 'svc',
    cmd = opts.cmd or { 'svc', 'lsp' },
    init_options = opts.settings,
    handlers = { ['svc/live'] = on_live, ['svc/attention'] = on_attention, ['textDocument/publishDiagnostics'] = quiet },
    on_exit = function()
      client_id = nil
    end,
  }
  vim.lsp.commands['svc.message'] = asking('Message: ')
  vim.lsp.commands['svc.ask'] = asking('Question: ')
  vim.api.nvim_create_user_command('SvcWho', M.who, {})
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, { callback = function(e) M.attach(e.buf) end })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) then
      M.attach(buf)
    end
  end
end

return M
